/** Settings for topics: the model, the owners of pages, and the topic to look for. */

import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";

export const TOPICS = {
  topicsModel: {
    key: "topics",
    meaning:
      "Classify every page: `ready` for the included model, or the file of a model made by `weir topics train`. Off by default; on with --partition topic and --order topic.",
    reader: read.words("MODEL", "ready, or a file"),
    orNone: true,
  },
  topic: {
    key: "topic",
    meaning: "With --order topic: the topic to look for, as named in the model.",
    reader: read.words("NAME", "a topic of the model"),
  },
  boundary: {
    key: "boundary",
    meaning:
      "With --partition topic or content-hash, for a page that another process owns: `page` sends the page there; `links` keeps it and sends its links.",
    fallback: "page",
    reader: read.oneOf(["page", "links"]),
  },
  confidenceMin: {
    key: "confidence",
    meaning: "Keep pages where they were fetched if the model's confidence is below this.",
    fallback: "0",
    reader: read.decimal({ least: 0, most: 1 }),
  },
  smallTopic: {
    key: "smallPages",
    meaning:
      "Topic of pages with fewer than 50 words. By default the first topic of the model, as in the paper.",
    reader: read.words("NAME", "a topic of the model"),
  },
  hostShareMax: {
    key: "hostShare",
    meaning:
      "Pause a site that had more than this share of the last hour's pages, while others have work. The paper uses 0.002. Off by default, because in a small crawl every site exceeds it.",
    reader: read.decimal({ least: 0.0001, most: 1 }),
    orNone: true,
  },
} as const satisfies FieldTable;
