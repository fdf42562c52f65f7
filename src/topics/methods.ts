/** The classifiers by name: the paper's three, and Weir's. */

import { lewis } from "./lewis.ts";
import { linear } from "./linear.ts";
import { naiveBayes } from "./naive-bayes.ts";
import { rocchio } from "./rocchio.ts";
import type { Method } from "./trained.ts";

export const METHOD_NAMES = ["naive-bayes", "lewis", "rocchio", "linear"] as const;
export type MethodName = (typeof METHOD_NAMES)[number];

export const METHODS: Readonly<Record<MethodName, Method>> = {
  "naive-bayes": naiveBayes,
  lewis,
  rocchio,
  linear,
};
