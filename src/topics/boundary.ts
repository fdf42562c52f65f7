/**
 * Whose a downloaded page is: ours, or that of the process which owns its topic (a boundary page, in the words
 * of Chung and Clarke).
 *
 * A page that is too small to judge goes to one fixed topic, one in a foreign language to `world`, and what the
 * classifier is not sure enough of stays where it is. As long as nothing stays for that reason (a confidence
 * floor of 0, as in the paper) the answer depends on the content alone, so that the same content ends at the same
 * owner whoever downloads it; with a floor that holds for all pages but the unsure.
 */

import type { Verdict } from "./classify.ts";

/** Topics beside those of the model. */
export const WORLD = "world";

export interface BoundaryRules {
  /** Below this probability a page stays where it is; 0: the likeliest topic always counts. */
  readonly confidenceMin: number;
  /** Where pages go that are too small to judge; undefined: they stay. The paper sends them to its first topic. */
  readonly smallTopic: string | undefined;
  /** Where pages go that are not in the model's language; undefined: they stay. */
  readonly foreignTopic: string | undefined;
}

/** As the paper has it, with the first of a model's topics for small pages. */
export function rulesOfThePaper(topics: readonly string[]): BoundaryRules {
  return { confidenceMin: 0, smallTopic: topics[0], foreignTopic: WORLD };
}

export type Fate =
  | { readonly kind: "keep"; readonly topic: string | undefined; readonly why: KeepReason }
  | { readonly kind: "send"; readonly topic: string };

export type KeepReason = "own" | "small" | "foreign" | "unsure";

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
