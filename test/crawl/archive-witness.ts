/**
 * What the archive files of a crawl hold, seen by two readers that share no code: ours and warcio's.
 *
 * Each page of the truth must have exactly one response or revisit record, with its own bytes or, for
 * a revisit, with the digest of them; and nothing else may be there.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { WARCParser } from "warcio";
import type { Violation } from "../../src/lab/violation.ts";
import { digestOf, groundTruth } from "../../src/lab/ground-truth.ts";
import type { World } from "../../src/lab/world/plan.ts";
import { archivesOf } from "../../src/output/warc/archives.ts";
import type { Marks } from "../../src/output/warc/warc-files.ts";
import { readRecords } from "../../src/output/warc/warc-read.ts";

/** A response or a revisit: whose, and the digest of the page it stands for. */
interface Sighting {
  readonly url: string;
  readonly digest: string;
}

export async function checkArchiveFiles(
  folder: string,
  marks: Marks,
  world: World,
): Promise<Violation[]> {
  const archives = archivesOf(join(folder, "archive"), marks);
  const ours: Sighting[] = [];
  const theirs: Sighting[] = [];
  const violations: Violation[] = [];
  for (const { path } of archives) {
    try {
      for (const { fields } of readRecords(path))
        if (isVisit(fields.get("warc-type")))
          ours.push({
            url: fields.get("warc-target-uri") ?? "",
            digest: fields.get("warc-payload-digest") ?? "",
          });
    } catch (error) {
      violations.push({ rule: "unreadable", detail: `${path}: ${String(error)}` });
    }
    try {
      theirs.push(...(await seenByWarcio(path)));
    } catch (error) {
      violations.push({ rule: "unreadable-by-warcio", detail: `${path}: ${String(error)}` });
    }
  }
  const truth = digestsOf(world);
  return [...violations, ...compare("ours", ours, truth), ...compare("warcio", theirs, truth)];
}

/** Whether a file can be read by our reader to the mark that was committed. */
export function checkUpTo(path: string, end: number): Violation[] {
  try {
    let readTo = 0;
    for (const { offset, length } of readRecords(path, { end })) readTo = offset + length;
    if (readTo === end) return [];
    return [{ rule: "torn", detail: `${path}: the last record ends at ${readTo}, not ${end}` }];
  } catch (error) {
    return [{ rule: "torn", detail: `${path} up to ${end}: ${String(error)}` }];
  }
}

async function seenByWarcio(path: string): Promise<Sighting[]> {
  const seen: Sighting[] = [];
  for await (const record of new WARCParser(createReadStream(path))) {
    const payload = await record.readFully(false);
    if (!isVisit(record.warcType ?? undefined)) continue;
    const isWhole = record.warcType === "response";
    seen.push({
      url: record.warcTargetURI ?? "",
      digest: isWhole ? sumOf(payload) : (record.warcPayloadDigest ?? ""),
    });
  }
  return seen;
}

function isVisit(type: string | undefined): boolean {
  return type === "response" || type === "revisit";
}

function compare(
  reader: string,
  seen: readonly Sighting[],
  truth: ReadonlyMap<string, string>,
): Violation[] {
  const violations: Violation[] = [];
  const left = new Map(truth);
  for (const { url, digest } of seen) {
    const wanted = left.get(url);
    left.delete(url);
    if (wanted === undefined) {
      const rule = truth.has(url) ? "archived-twice" : "archived-stranger";
      violations.push({ rule, detail: `${url} (${reader})` });
    } else if (wanted !== digest) {
      violations.push({ rule: "archived-wrong", detail: `${url} (${reader}): ${digest}` });
    }
  }
  for (const url of left.keys())
    violations.push({ rule: "not-archived", detail: `${url} (${reader})` });
  return violations;
}

function digestsOf(world: World): Map<string, string> {
  const digests = new Map<string, string>();
  for (const truth of groundTruth(world))
    if (truth.fate === "stored")
      digests.set(truth.url, `sha256:${Buffer.from(digestOf(world, truth)).toString("hex")}`);
  return digests;
}

function sumOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
