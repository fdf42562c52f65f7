/**
 * Loads the link graphs of real crawls: the pages that were fetched, and the links among them.
 *
 * Format: `NAME.urls.tsv.xz` with a heading and a line per URL (number, 1 when fetched, bytes, digest, URL),
 * `NAME.links.txt.xz` with a line per fetched page (`number:target target …`). Read with the program `xz`.
 * The result is undefined when the files or the program are missing.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { canonicalUrl, type CanonicalUrl, isRefused } from "../url/url.ts";
import { GraphBuilder, type GraphWeb } from "./graph-web.ts";

export const REAL_WEBS = ["uic-2018", "uci-ics"] as const;

/** Next to the checkout. */
const DATA_FOLDER = fileURLToPath(new URL("../../../shared/data/", import.meta.url));

const FILE_BYTES_MAX = 512 * 2 ** 20;

export function realWeb(
  name: (typeof REAL_WEBS)[number],
  dataFolder = DATA_FOLDER,
): GraphWeb | undefined {
  const rows = unpacked(join(dataFolder, "webgraphs", `${name}.urls.tsv.xz`));
  const links = unpacked(join(dataFolder, "webgraphs", `${name}.links.txt.xz`));
  if (rows === undefined || links === undefined) return undefined;
  const pageOf = new Map<string, number>();
  const urls: CanonicalUrl[] = [];
  for (const row of rows.split("\n")) {
    const [number = "", crawled, , , text = ""] = row.split("\t");
    const url = crawled === "1" ? canonicalUrl(text) : undefined;
    if (url === undefined || isRefused(url)) continue;
    pageOf.set(number, urls.length);
    urls.push(url);
  }
  const targetsOf = new Map<string, string>();
  for (const line of links.split("\n")) {
    const colon = line.indexOf(":");
    targetsOf.set(line.slice(0, colon), line.slice(colon + 1));
  }
  const builder = new GraphBuilder(urls.length, 20 * urls.length);
  for (const number of pageOf.keys()) {
    builder.beginPage();
    for (const target of (targetsOf.get(number) ?? "").split(" ")) {
      const page = pageOf.get(target);
      if (page !== undefined) builder.link(page);
    }
  }
  return builder.web(name, urls);
}

function unpacked(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const xz = spawnSync("xz", ["-dc", file], { maxBuffer: FILE_BYTES_MAX });
  return xz.status === 0 ? xz.stdout.toString("utf8") : undefined;
}
