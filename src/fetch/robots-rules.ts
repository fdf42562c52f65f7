/**
 * Finds the rule of robots.txt that decides about a path: the longest that matches, Allow on a tie.
 *
 * Rules are of three kinds. Plain prefixes are sorted; the longest one that begins a path is the
 * path's neighbour in that order, or one of the neighbour's own prefixes, which are linked. Rules
 * that end in `$` and hold no `*` are a look-up. The others, with `*`, are tried longest first.
 *
 * Both sides are compared in one spelling: letters that need no percent code have none, hexadecimal
 * digits are in capitals, everything beyond ASCII is encoded (RFC 9309 section 2.2.2). A literal `*`
 * or `$` is always encoded, as the RFC says to write them in rules.
 *
 * O(log n) for plain rules, and one pass for each `*` rule longer than what was found.
 */

import { type Glob, globOf, Trial } from "./robots-glob.ts";

export interface Rule {
  readonly allow: boolean;
  /** As written, percent codes in their one spelling. */
  readonly pattern: string;
  /** The line of the file it stands on, from 1. */
  readonly line: number;
}

export interface Verdict {
  readonly allowed: boolean;
  /** The rule that decided; undefined when none applies, or when not the file but its absence did. */
  readonly rule: Rule | undefined;
}

interface GlobRule {
  readonly verdict: Verdict;
  readonly glob: Glob;
}

export const ALLOWED: Verdict = { allowed: true, rule: undefined };
export const FORBIDDEN: Verdict = { allowed: false, rule: undefined };

export class RuleSet {
  readonly #prefixes: readonly string[];
  readonly #prefixVerdicts: readonly Verdict[];
  /** For each prefix, the place of the longest other one that begins it; -1 when there is none. */
  readonly #shorter: Int32Array;
  readonly #exact = new Map<string, Verdict>();
  readonly #globs: readonly GlobRule[];

  constructor(rules: readonly Rule[]) {
    const prefixes = new Map<string, Verdict>();
    const globs: GlobRule[] = [];
    for (const rule of rules) {
      const { pattern } = rule;
      const verdict = { allowed: rule.allow, rule };
      const isPlain = !pattern.includes("*");
      if (isPlain && pattern.endsWith("$")) keepBetter(this.#exact, pattern.slice(0, -1), verdict);
      else if (isPlain) keepBetter(prefixes, pattern, verdict);
      else globs.push({ verdict, glob: globOf(pattern) });
    }
    globs.sort((a, b) => -byWeight(a.verdict, b.verdict));
    this.#globs = globs;
    this.#prefixes = [...prefixes.keys()].sort(compare);
    this.#prefixVerdicts = this.#prefixes.map((prefix) => prefixes.get(prefix) as Verdict);
    this.#shorter = linkPrefixes(this.#prefixes);
  }

  /** `path` is path and query, beginning with a slash. */
  verdict(path: string): Verdict {
    const spelt = spellPath(path);
    let best = this.#longestPrefix(spelt);
    const exact = this.#exact.get(spelt);
    if (exact !== undefined && byWeight(exact, best) > 0) best = exact;
    return this.#globs.length === 0 ? best : this.#betterGlob(spelt, best);
  }

  #betterGlob(path: string, best: Verdict): Verdict {
    const trial = new Trial(path);
    for (const { verdict, glob } of this.#globs) {
      if (byWeight(verdict, best) <= 0) break;
      const isMatch = !trial.isSpent && trial.matches(glob);
      // Too much to search: what may be forbidden is taken to be, and what may be allowed is not.
      const decides = trial.isSpent ? !verdict.allowed && trial.begins(glob) : isMatch;
      if (decides) return verdict;
    }
    return best;
  }

  #longestPrefix(path: string): Verdict {
    const prefixes = this.#prefixes;
    let low = 0;
    let high = prefixes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((prefixes[middle] as string) <= path) low = middle + 1;
      else high = middle;
    }
    let at = low - 1;
    while (at >= 0 && !path.startsWith(prefixes[at] as string)) at = this.#shorter[at] as number;
    return this.#prefixVerdicts[at] ?? ALLOWED;
  }
}

/** A rule's pattern in its one spelling; `*`, and `$` at the end, keep their meaning. */
export function spellPattern(pattern: string): string {
  const spelt = spell(pattern);
  // Only the last character can be the mark of the end; any other `$` is itself.
  return spelt.slice(0, -1).replaceAll("$", "%24") + spelt.slice(-1);
}

function spellPath(path: string): string {
  if (!/[^!"#&-)+-~]/.test(path)) return path;
  return spell(path).replaceAll("*", "%2A").replaceAll("$", "%24");
}

/** Gen-delims that mean nothing inside a query, where some write them as percent codes. */
const SAME_IN_QUERY: ReadonlySet<string> = new Set([":", "/", "?", "@"]);

function spell(text: string): string {
  const queryAt = text.indexOf("?");
  return text.replaceAll(/%[0-9a-f]{2}|[^\u0000-\u007f]+/gi, (found, at: number) => {
    if (!found.startsWith("%")) return encodeBeyondAscii(found);
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
    const isSame = queryAt >= 0 && at > queryAt && SAME_IN_QUERY.has(character);
    return isSame || /[\w.~-]/.test(character) ? character : found.toUpperCase();
  });
}

function encodeBeyondAscii(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Above 0 when `a` decides over `b`. */
function byWeight(a: Verdict, b: Verdict): number {
  const longer = patternOf(a).length - patternOf(b).length;
  return longer === 0 ? Number(a.allowed) - Number(b.allowed) : longer;
}

function patternOf(verdict: Verdict | undefined): string {
  return verdict?.rule?.pattern ?? "";
}

function keepBetter(kept: Map<string, Verdict>, key: string, verdict: Verdict): void {
  const other = kept.get(key);
  if (other === undefined || byWeight(verdict, other) > 0) kept.set(key, verdict);
}

/** In code unit order, which is the order of `<`. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function linkPrefixes(sorted: readonly string[]): Int32Array {
  const shorter = new Int32Array(sorted.length);
  for (const [index, pattern] of sorted.entries()) {
    let at = index - 1;
    while (at >= 0 && !pattern.startsWith(sorted[at] as string)) at = shorter[at] as number;
    shorter[index] = at;
  }
  return shorter;
}
