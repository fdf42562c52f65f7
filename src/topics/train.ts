/**
 * Trains a whole model from examples: the classifier, then its calibration on held-out pages.
 *
 * Unusable examples give a reason. A topic needs at least eight pages, so that each of the four folds of the
 * calibration leaves some to train on.
 */

import { calibrate, holdOut } from "./calibration.ts";
import { byTopic, type Examples, pagesByTopic } from "./examples.ts";
import { METHODS, type MethodName } from "./methods.ts";
import type { Model } from "./model.ts";
import { pruned } from "./prune.ts";
import type { Method } from "./trained.ts";

const EXAMPLES_MIN = 8;

interface TrainingOptions {
  readonly method: MethodName;
  /** Maximum number of terms to keep. */
  readonly termsMax: number;
}

type Training =
  | { readonly kind: "model"; readonly model: Model }
  | { readonly kind: "refused"; readonly why: string };

export function trainModel(
  examples: Examples,
  pages: Int32Array,
  { method, termsMax }: TrainingOptions,
): Training {
  const trainedOn = [...pagesByTopic(examples, pages)];
  const why = objectionTo(examples.topics, trainedOn);
  if (why !== undefined) return { kind: "refused", why };
  const { train, score } = METHODS[method];
  // The classifiers of the calibration are pruned too.
  const small: Method = { train: (some, of) => pruned(train(some, of), termsMax), score };
  const calibration = calibrate(holdOut(small, examples, byTopic(examples, pages)));
  const trained = small.train(examples, pages);
  return { kind: "model", model: { method, trained, calibration, trainedOn } };
}

function objectionTo(topics: readonly string[], pagesOf: readonly number[]): string | undefined {
  if (topics.length < 2)
    return topics.length === 0
      ? "there are no examples"
      : `all examples are of one topic, ${JSON.stringify(topics[0])}; a classifier needs at least two`;
  const few = topics.flatMap((topic, index) => {
    const count = pagesOf[index] ?? 0;
    return count < EXAMPLES_MIN ? [`${topic} has ${count}`] : [];
  });
  if (few.length === 0) return undefined;
  return `every topic needs at least ${EXAMPLES_MIN} examples: ${few.join(", ")}`;
}
