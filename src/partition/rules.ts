/**
 * The operator's rules for dividing the web: `GROUP=MATCH`, where MATCH is a host suffix
 * (`.uk`, `example.org`), `country:CODE`, or `path:HOST/PATH`.
 *
 * A country is the last label of the host: its two-letter code, or the same country's code in its own script.
 * Suffixes and paths are made canonical once, as parts of a URL, so that `.РФ` and
 * `path:Docs.Example.org:80/a b` match the URLs they stand for.
 */

import { canonicalUrl, type CanonicalUrl, hostOf, isRefused, pathStart } from "../url/url.ts";

type RuleMatch =
  | { readonly kind: "suffix"; readonly suffix: string }
  | { readonly kind: "country"; readonly code: string }
  /** Host and path as in the canonical URL; matches every URL that begins with them. */
  | { readonly kind: "path"; readonly prefix: string };

export interface PartitionRule {
  readonly match: RuleMatch;
  /** URLs that match rules of one group stay together. */
  readonly group: string;
}

/** The rule, or undefined if the text is not one. */
export function readPartitionRule(text: string): PartitionRule | undefined {
  const parts = /^\s*([\w-]{1,64})\s*=\s*(\S.*?)\s*$/.exec(text);
  if (parts === null) return undefined;
  const match = readMatch(parts[2] ?? "");
  return match && { match, group: parts[1] ?? "" };
}

/** The rule as the operator would write it. */
export function showPartitionRule({ match, group }: PartitionRule): string {
  if (match.kind === "suffix") return `${group}=.${match.suffix}`;
  return `${group}=${match.kind}:${match.kind === "country" ? match.code : match.prefix}`;
}

export function ruleMatches(match: RuleMatch, url: CanonicalUrl): boolean {
  if (match.kind === "path") return url.startsWith(match.prefix, url.indexOf("/") + 2);
  const host = hostOf(url);
  if (match.kind === "suffix") return endsInLabels(host, match.suffix);
  return countryOf(host) === match.code;
}

/** Two letters, or undefined for a host without a country: a generic suffix, an IP address, a name without dots. */
export function countryOf(host: string): string | undefined {
  const label = host.slice(host.lastIndexOf(".") + 1);
  if (label.length === host.length) return undefined;
  if (label.startsWith("xn--")) return COUNTRY_OF_SCRIPT.get(label.slice(4));
  return /^[a-z]{2}$/.test(label) ? label : undefined;
}

function readMatch(text: string): RuleMatch | undefined {
  if (text.startsWith("country:")) return readCountry(text.slice(8));
  if (text.startsWith("path:")) return readPath(text.slice(5));
  const suffix = hostNamed(text.startsWith(".") ? text.slice(1) : text);
  return suffix === undefined ? undefined : { kind: "suffix", suffix };
}

function readCountry(text: string): RuleMatch | undefined {
  const code = text.trim().toLowerCase();
  if (!/^[a-z]{2}$/.test(code)) return undefined;
  // The one country whose top-level domain differs from its code (ISO 3166).
  return { kind: "country", code: code === "gb" ? "uk" : code };
}

function readPath(text: string): RuleMatch | undefined {
  const target = text.trim().replace(/^https?:\/\//i, "");
  const slash = target.indexOf("/");
  if (slash === 0 || /[@?#]/.test(target)) return undefined;
  const url = canonicalUrl(`http://${slash < 0 ? `${target}/` : target}`);
  return isRefused(url) ? undefined : { kind: "path", prefix: url.slice("http://".length) };
}

/** The canonical form of a host name, or undefined if the text is anything else. */
function hostNamed(text: string): string | undefined {
  if (/[/:@?#\s[\]]/.test(text)) return undefined;
  const url = canonicalUrl(`http://${text}/`);
  if (isRefused(url)) return undefined;
  const host = hostOf(url);
  // An IP address has no suffix, and a number would be parsed as one.
  return /^[\d.]+$/.test(host) || pathStart(url) !== url.length - 1 ? undefined : host;
}

function endsInLabels(host: string, suffix: string): boolean {
  if (!host.endsWith(suffix)) return false;
  return host.length === suffix.length || host.at(-suffix.length - 1) === ".";
}

/** Top-level domains in other scripts (without `xn--`) and the country of each; not complete. */
const COUNTRY_OF_SCRIPT: ReadonlyMap<string, string> = new Map([
  ["mgbaam7a8h", "ae"],
  ["y9a3aq", "am"],
  ["90ae", "bg"],
  ["90ais", "by"],
  ["fiqs8s", "cn"],
  ["fiqz9s", "cn"],
  ["wgbh1c", "eg"],
  ["e1a4c", "eu"],
  ["qxa6a", "eu"],
  ["node", "ge"],
  ["qxam", "gr"],
  ["j6w193g", "hk"],
  ["4dbrk0ce", "il"],
  ["h2brj9c", "in"],
  ["mgbtx2b", "iq"],
  ["mgba3a4f16a", "ir"],
  ["mgbayh7gpa", "jo"],
  ["3e0b707e", "kr"],
  ["80ao21a", "kz"],
  ["q7ce6a", "la"],
  ["mgbc0a9azcg", "ma"],
  ["d1alf", "mk"],
  ["l1acc", "mn"],
  ["mix891f", "mo"],
  ["mgb9awbf", "om"],
  ["mgbai9azgqp6j", "pk"],
  ["ygbi2ammx", "ps"],
  ["wgbl6a", "qa"],
  ["90a3ac", "rs"],
  ["p1ai", "ru"],
  ["mgberp4a5d4ar", "sa"],
  ["yfro4i67o", "sg"],
  ["ogbpf8fl", "sy"],
  ["o3cw4h", "th"],
  ["pgbs0dh", "tn"],
  ["kprw13d", "tw"],
  ["kpry57d", "tw"],
  ["j1amh", "ua"],
]);
