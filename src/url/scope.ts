/**
 * Decides which URLs belong to a crawl, and names the rule that decided.
 *
 * Patterns come first: a matching exclude refuses, and if there are includes one of them must match.
 * Then the kind decides:
 *   site       the scheme, host and port of a seed. With default ports, http and https of one host
 *              are one site here: a seed that moved to https stays in scope.
 *   host-list  the host of a seed, on any port, with either scheme.
 *   domain     the registrable domain of a seed, with all hosts under it.
 *   any        every URL.
 *
 * In patterns `*` stands for any run of characters, and everything else for itself; a pattern must match
 * the whole URL. Matching reads the URL once per pattern, without backtracking.
 */

import { domainOf, siteOf } from "./site.ts";
import { type CanonicalUrl, hostOf } from "./url.ts";

export type ScopeKind = "site" | "domain" | "host-list" | "any";

interface ScopeRules {
  readonly kind: ScopeKind;
  readonly seeds: readonly CanonicalUrl[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

interface ScopeVerdict {
  readonly accepted: boolean;
  /**
   * `exclude PATTERN`, `include PATTERN`, `no include matches`, `site`, `outside site` and so on.
   */
  readonly rule: string;
}

interface Pattern {
  readonly pieces: readonly string[];
  readonly verdict: ScopeVerdict;
}

export class Scope {
  readonly #kind: ScopeKind;
  readonly #members: Set<string>;
  readonly #include: readonly Pattern[];
  readonly #exclude: readonly Pattern[];
  readonly #inside: ScopeVerdict;
  readonly #outside: ScopeVerdict;

  constructor(rules: ScopeRules) {
    this.#kind = rules.kind;
    this.#members = new Set(rules.seeds.map((seed) => memberName(rules.kind, seed)));
    this.#include = rules.include.map((glob) => patternOf(glob, true));
    this.#exclude = rules.exclude.map((glob) => patternOf(glob, false));
    this.#inside = { accepted: true, rule: rules.kind };
    this.#outside = { accepted: false, rule: `outside ${rules.kind}` };
  }

  /** Adds a URL to the seeds: the target of a seed's redirect. */
  extend(seed: CanonicalUrl): void {
    this.#members.add(memberName(this.#kind, seed));
  }

  decide(url: CanonicalUrl): ScopeVerdict {
    const verdict = this.decideSeed(url);
    if (!verdict.accepted || this.#kind === "any") return verdict;
    return this.#members.has(memberName(this.#kind, url)) ? verdict : this.#outside;
  }

  /** The verdict on a seed, and on the target of a seed's redirect: only patterns can refuse it. */
  decideSeed(url: CanonicalUrl): ScopeVerdict {
    for (const pattern of this.#exclude) if (matches(pattern.pieces, url)) return pattern.verdict;
    if (this.#include.length === 0) return this.#inside;
    const included = this.#include.find((pattern) => matches(pattern.pieces, url));
    return included?.verdict ?? NOT_INCLUDED;
  }
}

/** True if a glob, with `*` for any run of characters, matches the whole text. */
export function globMatches(glob: string, text: string): boolean {
  return matches(glob.split("*"), text);
}

const NOT_INCLUDED: ScopeVerdict = { accepted: false, rule: "no include matches" };

function memberName(kind: ScopeKind, url: CanonicalUrl): string {
  switch (kind) {
    case "site":
      return siteOfBothSchemes(url);
    case "domain":
      return domainOf(url);
    default:
      return hostOf(url);
  }
}

/** The site; http and https of a host share one name when neither has a port of its own. */
function siteOfBothSchemes(url: CanonicalUrl): string {
  const site = siteOf(url);
  const name = site.slice(site.indexOf("/") + 2);
  return name === hostOf(url) ? name : site;
}

function patternOf(glob: string, accepted: boolean): Pattern {
  const rule = `${accepted ? "include" : "exclude"} ${glob}`;
  return { pieces: glob.split("*"), verdict: { accepted, rule } };
}

/** The text must begin with the first piece, end with the last, and have the others in order in between. */
function matches(pieces: readonly string[], text: string): boolean {
  const [first = "", ...others] = pieces;
  if (others.length === 0) return text === first;
  const last = others.pop() ?? "";
  if (text.length < first.length + last.length) return false;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of others) {
    // The leftmost match leaves the most room for the remaining pieces.
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
