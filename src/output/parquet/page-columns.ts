/** The columns of a table of pages, with the same data as a line of JSON. */

import type { PageLine } from "../lines/jsonl.ts";
import type { Column } from "./parquet.ts";

const LINK_BYTES = 8;

export const PAGE_COLUMNS: readonly Column<PageLine>[] = [
  { name: "url", type: "text", valueOf: ({ url }) => url },
  { name: "status", type: "int32", valueOf: ({ page }) => page.status },
  { name: "fetched_at", type: "milliseconds", valueOf: ({ page }) => page.fetchedAtMs },
  { name: "content_type", type: "text", valueOf: ({ page }) => page.contentType },
  { name: "charset", type: "text", valueOf: ({ page }) => page.charset },
  { name: "title", type: "text", valueOf: ({ page }) => page.title },
  { name: "language", type: "text", valueOf: ({ page }) => page.language },
  { name: "bytes", type: "int64", valueOf: ({ page }) => page.bodyBytes },
  {
    name: "digest",
    type: "text",
    valueOf: ({ page }) => `sha256:${Buffer.from(page.digest).toString("hex")}`,
  },
  { name: "depth", type: "int32", valueOf: ({ depth }) => depth },
  { name: "links", type: "int32", valueOf: ({ page }) => page.links.length / LINK_BYTES },
  { name: "remarks", type: "text", valueOf: ({ page }) => page.remarks.join(" ") },
  {
    name: "likeness",
    type: "text",
    isOptional: true,
    valueOf: ({ page }) => page.likeness?.kind,
  },
  { name: "likeness_url", type: "text", isOptional: true, valueOf: ({ likeUrl }) => likeUrl },
  {
    name: "archive_file",
    type: "text",
    isOptional: true,
    valueOf: ({ page }) => page.archived?.file,
  },
  {
    name: "archive_offset",
    type: "int64",
    isOptional: true,
    valueOf: ({ page }) => page.archived?.offset,
  },
  {
    name: "archive_length",
    type: "int64",
    isOptional: true,
    valueOf: ({ page }) => page.archived?.length,
  },
  { name: "rank", type: "double", isOptional: true, valueOf: ({ rank }) => rank },
  { name: "text", type: "text", isOptional: true, valueOf: ({ text }) => text },
];
