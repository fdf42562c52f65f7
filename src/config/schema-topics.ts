/** Settings about topics: what pages are about, whose they are, and what is looked for. */

import type { FieldTable } from "./field.ts";
import * as line from "./readers-bandwidth.ts";
import * as read from "./readers.ts";

export const TOPICS = {
  topicsModel: {
    key: "topics",
    meaning:
      "Says what every page is about: `ready` for the model that comes with Weir, or the file of one made by `weir topics train`. Off by default; on with --partition topic and --order topic.",
    fallback: undefined,
    reader: read.words("MODEL", "ready, or a file"),
    orNone: true,
  },
  topic: {
    key: "topic",
    meaning: "With --order topic: the topic that is looked for, as the model calls it.",
    fallback: undefined,
    reader: read.words("NAME", "a topic of the model"),
  },
  boundary: {
    key: "boundary",
    meaning:
      "With --partition topic or content-hash, of a page that is another process's: `page` sends all of it there, `links` keeps it and sends its links.",
    fallback: "page",
    reader: read.oneOf(["page", "links"]),
  },
  confidenceMin: {
    key: "confidence",
    meaning: "Pages of which the model is less sure than this stay where they were fetched.",
    fallback: "0",
    reader: line.decimal({ least: 0, most: 1 }),
  },
  smallTopic: {
    key: "smallPages",
    meaning:
      "The topic that pages of fewer than 50 words count as. By default the model's first, as in the paper.",
    fallback: undefined,
    reader: read.words("NAME", "a topic of the model"),
  },
  hostShareMax: {
    key: "hostShare",
    meaning:
      "A site that took more than this part of all pages of the last hour waits while others have something to do. The paper on topics has 0.002; off by default, since in a small crawl every site takes more.",
    fallback: undefined,
    reader: line.decimal({ least: 0.0001, most: 1 }),
    orNone: true,
  },
} as const satisfies FieldTable;
