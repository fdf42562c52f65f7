/** Reads the addresses that all processes know and never send: one a line, as `weir export --popular` writes them. */

import { readFileSync } from "node:fs";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { type CanonicalUrl, canonicalUrl, isRefused } from "../url/url.ts";

const POPULAR_MAX = 1_000_000;

/** Lines that are no address are left out. */
export function readPopular(file: string | undefined): readonly CanonicalUrl[] {
  if (file === undefined) return [];
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CrawlError("USAGE", `The file of --replicate cannot be read: ${visible(why, 300)}`);
  }
  const urls = new Set<CanonicalUrl>();
  for (const line of text.split("\n")) {
    const url = canonicalUrl(line.trim());
    if (!isRefused(url)) urls.add(url);
    if (urls.size >= POPULAR_MAX) break;
  }
  return [...urls];
}
