/** Loads topic models: the included one, or a user's file. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { decodeModel, type LoadedModel } from "../topics/model.ts";

/** The same relative path in the sources and in a build. */
const READY_MODEL = fileURLToPath(new URL("../../models/topics-en.model", import.meta.url));

/**
 * Loads a topic model: the one that comes with Weir, or a file from `weir topics train`.
 *
 * @example
 * import { loadTopicModel } from "weir";
 *
 * const model = loadTopicModel();
 * console.log(model.trained.topics);
 */
export function loadTopicModel(file: string = READY_MODEL): LoadedModel {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CrawlError("FILE_UNREADABLE", `Cannot read ${visible(file, 200)}: ${why}`, {
      cause: error,
    });
  }
  const reading = decodeModel(bytes);
  if (reading.kind === "model") return reading.model;
  throw new CrawlError("FILE_UNREADABLE", `Cannot use ${visible(file, 200)}: ${reading.why}`);
}
