/** Loads what a crawl with topics needs: the model, and the rule that assigns pages to processes. */

import { CrawlError } from "../../base/errors.ts";
import { ownsContents } from "../../config/processes.ts";
import type { Settings } from "../../config/schema.ts";
import { loadTopicModel } from "../../config/topic-model.ts";
import { suggestion } from "../../config/nearest.ts";
import { rulesOfThePaper } from "../../topics/boundary.ts";
import { Classifier } from "../../topics/classify.ts";
import { Focus } from "../../topics/focus.ts";
import type { LoadedModel } from "../../topics/model.ts";
import type { TopicSetup } from "../context.ts";
import type { Placing } from "../parse-page.ts";
import { Labelling, PlacingByContent, PlacingByTopic } from "./assign.ts";

/** The model that the settings name; undefined if none is needed. */
export function modelFor(settings: Settings): LoadedModel | undefined {
  const { topicsModel, partition, order } = settings;
  const isNeeded = topicsModel !== undefined || partition === "topic" || order === "topic";
  if (!isNeeded) return undefined;
  const file = topicsModel === undefined || topicsModel === "ready" ? undefined : topicsModel;
  return loadTopicModel(file);
}

export function topicSetupFor(
  settings: Settings,
  model: LoadedModel | undefined = modelFor(settings),
): TopicSetup | undefined {
  if (model === undefined && settings.partition !== "content-hash") return undefined;
  const topics = model?.trained.topics ?? [];
  for (const name of [settings.topic, settings.smallTopic])
    if (name !== undefined && !topics.includes(name)) throw unknownTopic(name, topics);
  if (settings.order === "topic" && settings.topic === undefined)
    throw new CrawlError("USAGE", `--order topic needs --topic: one of ${topics.join(", ")}`);
  return {
    classifier: model === undefined ? undefined : new Classifier(model),
    placing: placingFor(settings, topics),
    modelDigest: model?.digest ?? "",
  };
}

/** The focus of a crawl ordered by topic; undefined for other orders. */
export function focusFor(
  settings: Settings,
  classifier: Classifier | undefined,
): Focus | undefined {
  if (settings.order !== "topic" || classifier === undefined) return undefined;
  const { trained } = classifier.model;
  return new Focus(trained.topics.indexOf(settings.topic ?? ""), trained);
}

function placingFor(settings: Settings, topics: readonly string[]): Placing {
  const { partition, confidenceMin, smallTopic, bucketCount } = settings;
  if (!ownsContents(settings)) return new Labelling();
  if (partition === "content-hash") return new PlacingByContent(bucketCount);
  const paper = rulesOfThePaper(topics);
  return new PlacingByTopic(topics, {
    ...paper,
    confidenceMin,
    smallTopic: smallTopic ?? paper.smallTopic,
  });
}

function unknownTopic(name: string, topics: readonly string[]): CrawlError {
  const hint = suggestion(name, topics);
  return new CrawlError(
    "USAGE",
    `The model has no topic ${JSON.stringify(name)}${hint}; it has ${topics.join(", ")}`,
  );
}
