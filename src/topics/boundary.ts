/**
 * Decides which process keeps a downloaded page: this one, or the one that owns the page's topic (a boundary
 * page, in the words of Chung and Clarke).
 *
 * A page too small to classify goes to one fixed topic, a page in a foreign language to `world`, and a page
 * below the minimum confidence stays where it is. With a minimum of 0 (as in the paper) the decision depends on
 * the content alone, so equal content reaches the same owner from every process; with a higher minimum this
 * holds for all pages except the unsure ones.
 */

import type { Verdict } from "./classify.ts";

/** Topic of pages in a foreign language, added to the model's topics. */
export const WORLD = "world";

export interface BoundaryRules {
  /** Below this probability a page stays where it is; 0: the likeliest topic always counts. */
  readonly confidenceMin: number;
  /** Topic of pages too small to classify; undefined: they stay. The paper sends them to its first topic. */
  readonly smallTopic: string | undefined;
  /** Topic of pages in a language the model does not cover; undefined: they stay. */
  readonly foreignTopic: string | undefined;
}

/** The rules of the paper, with the first of a model's topics for small pages. */
export function rulesOfThePaper(topics: readonly string[]): BoundaryRules {
  return { confidenceMin: 0, smallTopic: topics[0], foreignTopic: WORLD };
}

export type Fate =
  | { readonly kind: "keep"; readonly topic: string | undefined; readonly why: KeepReason }
  | { readonly kind: "send"; readonly topic: string };

type KeepReason = "own" | "small" | "foreign" | "unsure";

export function fateOf(verdict: Verdict, rules: BoundaryRules, own: ReadonlySet<string>): Fate {
  switch (verdict.kind) {
    case "small":
      return byTopic(rules.smallTopic, own, "small");
    case "foreign":
      return byTopic(rules.foreignTopic, own, "foreign");
    case "topic":
      return byTopic(
        verdict.confidence < rules.confidenceMin ? undefined : verdict.name,
        own,
        "unsure",
      );
  }
}

function byTopic(topic: string | undefined, own: ReadonlySet<string>, why: KeepReason): Fate {
  if (topic === undefined) return { kind: "keep", topic, why };
  return own.has(topic) ? { kind: "keep", topic, why: "own" } : { kind: "send", topic };
}
