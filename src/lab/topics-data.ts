/**
 * Reads the labelled pages for the experiments on topics from `shared/data` next to the checkout, or from the
 * folder in WEIR_DATA. They are third-party data and not part of Weir; a missing file is an error.
 *
 * From Wikipedia for Schools, index pages and the heading with a page's subjects are removed, because both
 * reveal the label.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CrawlError } from "../base/errors.ts";
import { packedLines } from "../config/packed-lines.ts";

const DEFAULT_FOLDER = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const SUBJECT_HEADING = /<h3 id="siteSub">[^]*?<\/h3>/;

interface WikipediaPage {
  readonly path: string;
  /** Paths of subjects, the main one first: "Science.Biology.Mammals". */
  readonly subjects: readonly string[];
  readonly html: Uint8Array;
}

interface LabelledText {
  readonly topic: string;
  readonly text: Uint8Array;
}

export function hasTopicsData(): boolean {
  return existsSync(join(dataFolder(), "topics"));
}

/** Pages of 4,654 articles; the experiments use the first part of the first subject as the topic. */
export async function* wikipediaPages(): AsyncGenerator<WikipediaPage> {
  const subjectsOf = new Map<string, readonly string[]>();
  for await (const [path = "", subjects = ""] of rowsOf(
    "topics/wikipedia-for-schools.labels.tsv.xz",
  ))
    subjectsOf.set(path, subjects.split("|"));
  for await (const line of linesIn("topics/wikipedia-for-schools.pages.jsonl.xz")) {
    const { path, html } = JSON.parse(line.toString("utf8")) as { path: string; html: string };
    const subjects = subjectsOf.get(path);
    if (subjects === undefined || path.includes("subject.")) continue;
    yield { path, subjects, html: Buffer.from(html.replace(SUBJECT_HEADING, "")) };
  }
}

/** Links between articles. */
export async function* wikipediaLinks(): AsyncGenerator<readonly [from: string, to: string]> {
  for await (const [from = "", to = ""] of rowsOf("topics/wikipedia-for-schools.links.tsv.xz"))
    yield [from, to];
}

/** Terms and privacy pages of sites in the 15 categories of the experiment X4. */
export async function* policyPages(): AsyncGenerator<LabelledText> {
  for await (const line of linesIn("topics/odp-privacy-pages.jsonl.xz")) {
    const { odp, text } = JSON.parse(line.toString("utf8")) as { odp: string; text: string };
    yield { topic: odp, text: Buffer.from(text) };
  }
}

/** The bodies of posts, without their headers. */
export async function* newsgroupPosts(): AsyncGenerator<LabelledText> {
  for await (const line of linesIn("topics/20-newsgroups.jsonl.xz")) {
    const { group, body } = JSON.parse(line.toString("utf8")) as { group: string; body: string };
    yield { topic: group, text: Buffer.from(body) };
  }
}

/** Pages in many languages, each with the language it declares. */
export async function* worldPages(): AsyncGenerator<{
  readonly declared: string | undefined;
  readonly html: Uint8Array;
}> {
  for await (const line of linesIn("pages/html-pages-trafilatura.jsonl.xz")) {
    const { html } = JSON.parse(line.toString("utf8")) as { html: string };
    const declared = /<html[^>]*\blang=["']?([a-z]{2})/i.exec(html)?.[1]?.toLowerCase();
    yield { declared, html: Buffer.from(html) };
  }
}

/** Pages of a university, unchanged. */
export async function* campusPages(): AsyncGenerator<Uint8Array> {
  for await (const line of linesIn("pages/uic-2018.pages.jsonl.xz"))
    yield Buffer.from((JSON.parse(line.toString("utf8")) as { html: string }).html);
}

function dataFolder(): string {
  return process.env["WEIR_DATA"] ?? DEFAULT_FOLDER;
}

async function* rowsOf(file: string): AsyncGenerator<string[]> {
  for await (const line of linesIn(file)) yield line.toString("utf8").split("\t");
}

async function* linesIn(file: string): AsyncGenerator<Buffer> {
  const path = join(dataFolder(), file);
  if (!existsSync(path))
    throw new CrawlError(
      "FILE_UNREADABLE",
      `Labelled pages are missing, and they are not part of Weir: there is no ${file} in shared/data next to the checkout or in the folder WEIR_DATA`,
    );
  yield* packedLines(path);
}
