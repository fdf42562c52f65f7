/**
 * The real data next to the checkout, for tests and benchmarks: `../shared/data`.
 *
 * It is the work of others and not copied into this repository; tests that need it are skipped where it is absent.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packedLines } from "../config/packed-lines.ts";

export const NEEDS_DATA = "needs ../shared/data";

const FOLDER = fileURLToPath(new URL("../../../shared/data/", import.meta.url));

export function hasSharedData(): boolean {
  return existsSync(FOLDER);
}

/** One file of `conformance/open.tar.xz`, or all that match a name with `*`, concatenated. */
export function conformanceText(member: string): string {
  return conformanceBytes(member).toString("utf8");
}

export function conformanceBytes(member: string): Buffer {
  const archive = `${FOLDER}conformance/open.tar.xz`;
  const unpacked = spawnSync("tar", ["-xJOf", archive, "--wildcards", `*${member}`], {
    maxBuffer: 256 * 2 ** 20,
  });
  if (unpacked.status !== 0) throw new Error(`cannot unpack ${member}: ${unpacked.stderr}`);
  return unpacked.stdout;
}

export function conformanceNames(): string[] {
  const listed = spawnSync("tar", ["-tJf", `${FOLDER}conformance/open.tar.xz`]);
  return listed.stdout.toString("utf8").trim().split("\n");
}

export interface RealPage {
  readonly url: string;
  readonly html: string;
}

/** Pages of a `.jsonl.xz` file, one at a time. */
export async function* realPages(file: string, countMax = Infinity): AsyncGenerator<RealPage> {
  let count = 0;
  for await (const line of packedLines(`${FOLDER}${file}`)) {
    if (count >= countMax) return;
    count += 1;
    yield realPage(JSON.parse(line.toString("utf8")), count);
  }
}

function realPage(row: Record<string, unknown>, number: number): RealPage {
  const url = typeof row["url"] === "string" ? row["url"] : `http://page.test/${number}/page.html`;
  return { url, html: String(row["html"]) };
}
