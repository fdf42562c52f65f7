/**
 * Which URLs belong to a crawl, answered with the rule that decided.
 *
 * First the patterns: an exclude that matches refuses, and where there are includes one must match.
 * Then the kind:
 *   site       the scheme, host and port of a seed. With default ports, http and https of one host
 *              are one site here: a seed that moved to https is still what was asked for.
 *   host-list  the host of a seed, on any port, over either scheme.
 *   domain     the registrable domain of a seed, with all hosts under it.
 *   any        every URL.
 *
 * In patterns `*` stands for any run of characters, and everything else for itself; a pattern meets
 * the whole URL. Matching goes through the URL once per pattern, without going back.
 */

import { domainOf, siteOf } from "./site.ts";
import { type CanonicalUrl, hostOf } from "./url.ts";

export type ScopeKind = "site" | "domain" | "host-list" | "any";

export interface ScopeRules {
  readonly kind: ScopeKind;
  readonly seeds: readonly CanonicalUrl[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export interface ScopeVerdict {
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

  /** Treats a URL as a seed from now on: the target of a seed's redirect. */
  extend(seed: CanonicalUrl): void {
    this.#members.add(memberName(this.#kind, seed));
  }

  decide(url: CanonicalUrl): ScopeVerdict {
    const verdict = this.decideSeed(url);
    if (!verdict.accepted || this.#kind === "any") return verdict;
    return this.#members.has(memberName(this.#kind, url)) ? verdict : this.#outside;
  }

  /** The verdict on a seed, and on where a seed redirects to: only patterns can refuse it. */
  decideSeed(url: CanonicalUrl): ScopeVerdict {
    for (const pattern of this.#exclude) if (meets(pattern.pieces, url)) return pattern.verdict;
    if (this.#include.length === 0) return this.#inside;
    const included = this.#include.find((pattern) => meets(pattern.pieces, url));
    return included?.verdict ?? NOT_INCLUDED;
  }
}

/** Whether a glob, `*` for any run of characters, meets the whole of a text. */
export function globMeets(glob: string, text: string): boolean {
  return meets(glob.split("*"), text);
}

const NOT_INCLUDED: ScopeVerdict = { accepted: false, rule: "no include matches" };

function memberName(kind: ScopeKind, url: CanonicalUrl): string {
  switch (kind) {
    case "site":
      return siteWithoutTwin(url);
    case "domain":
      return domainOf(url);
    default:
      return hostOf(url);
  }
}

/** The site, named alike for http and https when neither has a port of its own. */
function siteWithoutTwin(url: CanonicalUrl): string {
  const site = siteOf(url);
  const name = site.slice(site.indexOf("/") + 2);
  return name === hostOf(url) ? name : site;
}

function patternOf(glob: string, accepted: boolean): Pattern {
  const rule = `${accepted ? "include" : "exclude"} ${glob}`;
  return { pieces: glob.split("*"), verdict: { accepted, rule } };
}

/** The first piece stands at the start, the last at the end, the others in between in order. */
function meets(pieces: readonly string[], text: string): boolean {
  const [first = "", ...others] = pieces;
  if (others.length === 0) return text === first;
  const last = others.pop() ?? "";
  if (text.length < first.length + last.length) return false;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of others) {
    // The leftmost place leaves the most room for the pieces behind it.
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
