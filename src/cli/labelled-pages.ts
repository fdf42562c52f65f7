/**
 * Reads pages with their topics from JSON lines: `{ "topic": …, "text": … }` or `{ "topic": …,
 * "html": … }`, compressed or not; the fields may have other names.
 *
 * Lines that are not JSON, or have no topic or no page, are counted and reported by their numbers.
 * A few are tolerated; if more than one in twenty is invalid, the file is probably the wrong one,
 * and is refused.
 */

import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { packedLines } from "../config/packed-lines.ts";

const BROKEN_SHARE_MAX = 0.05;
const BROKEN_SHOWN_MAX = 8;
const TOPIC_CHARACTERS_MAX = 100;

export interface LabelledPage {
  readonly topic: string;
  readonly kind: "text" | "html";
  readonly body: Uint8Array;
}

export interface FieldNames {
  readonly topic: string;
  readonly text: string;
  readonly html: string;
}

/** Counts of lines; `broken` of them could not be used, with the reasons of the first of them. */
export interface LineTally {
  readonly lines: number;
  readonly broken: number;
  readonly reasons: readonly string[];
}

export async function readLabelledPages(
  files: readonly string[],
  names: FieldNames,
  take: (page: LabelledPage) => void,
): Promise<LineTally> {
  const reasons: string[] = [];
  let lines = 0;
  let broken = 0;
  for (const file of files) {
    let number = 0;
    for await (const line of packedLines(file)) {
      number += 1;
      if (isBlank(line)) continue;
      lines += 1;
      const page = pageIn(line.toString("utf8"), names);
      if (typeof page !== "string") take(page);
      else {
        broken += 1;
        if (reasons.length < BROKEN_SHOWN_MAX)
          reasons.push(`${visible(file, 120)}:${number}: ${page}`);
      }
    }
  }
  const tally = { lines, broken, reasons };
  if (lines === 0) throw new CrawlError("FILE_UNREADABLE", "The files have no lines");
  if (broken > BROKEN_SHARE_MAX * lines)
    throw new CrawlError(
      "FILE_UNREADABLE",
      `More than 5 % of the lines are invalid: ${tallyLines(tally).join("\n  ")}`,
    );
  return tally;
}

/** For users: empty if all lines were valid. */
export function tallyLines({ lines, broken, reasons }: LineTally): string[] {
  if (broken === 0) return [];
  const head = `${broken} of ${lines} lines cannot be used`;
  return [head, ...reasons, ...(broken > reasons.length ? ["…"] : [])];
}

/** The page in a line, or the reason why it is invalid. */
function pageIn(line: string, names: FieldNames): LabelledPage | string {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return "no JSON";
  }
  if (typeof row !== "object" || row === null || Array.isArray(row)) return "no JSON object";
  const fields = row as Readonly<Record<string, unknown>>;
  const topic = Object.hasOwn(fields, names.topic) ? fields[names.topic] : undefined;
  if (typeof topic !== "string" || topic.trim() === "") return `no "${names.topic}"`;
  if (topic.length > TOPIC_CHARACTERS_MAX) return `a "${names.topic}" of ${topic.length} letters`;
  for (const kind of ["text", "html"] as const) {
    const body = Object.hasOwn(fields, names[kind]) ? fields[names[kind]] : undefined;
    if (typeof body === "string") return { topic: topic.trim(), kind, body: Buffer.from(body) };
  }
  return `neither "${names.text}" nor "${names.html}"`;
}

function isBlank(line: Buffer): boolean {
  return line.length < 3 && line.toString("latin1").trim() === "";
}
