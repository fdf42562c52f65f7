/**
 * The paper's comparison of speeds: pages per second on one core at a mean page size of 7,738 bytes.
 *
 * Uses pages of 4.6 to 10 KB from a university's crawl and from Wikipedia for Schools, which have about this mean.
 * The classifiers are trained on the policy pages, 15 topics. `text` starts from the visible text, `html` from the
 * unparsed page. Every figure includes the language test, as in a crawl.
 *
 * This is the only experiment whose numbers differ between machines and runs, because it measures time. The best of
 * ten repetitions counts, because disturbances only slow a measurement down.
 */

import { visibleText } from "../../page/text.ts";
import { allPages, type Examples } from "../../topics/examples.ts";
import { Classifier } from "../../topics/classify.ts";
import { METHOD_NAMES, METHODS, type MethodName } from "../../topics/methods.ts";
import { UNCALIBRATED } from "../../topics/calibration.ts";
import type { Model } from "../../topics/model.ts";
import { collectionOf } from "../topics-collections.ts";
import { campusPages, wikipediaPages } from "../topics-data.ts";
import { type Experiment, type Row, rounded } from "./experiment.ts";
import { TOPICS_PAPER } from "./topics-accuracy.ts";

const BYTES_LEAST = 4600;
const BYTES_MOST = 10_000;
const REPETITIONS = 10;
const TEXT_CHARACTERS_MAX = 1_000_000;
const PAPER_PAGES_PER_SECOND: Readonly<Partial<Record<MethodName, number>>> = {
  "naive-bayes": 1950,
  lewis: 289,
  rocchio: 161,
};

interface Page {
  readonly html: Uint8Array;
  readonly text: Uint8Array;
}

export const topicsSpeed: Experiment = {
  name: "topics-speed",
  paper: `${TOPICS_PAPER}, section 5`,
  about:
    "Pages per second on one core for each classifier, from text and from HTML, at the paper's mean page size. Unlike the other experiments it measures this machine, so its numbers vary. Needs labelled pages that are not part of Weir.",
  parameters: { bytesLeast: BYTES_LEAST, bytesMost: BYTES_MOST, rounds: REPETITIONS },
  async run() {
    const pages = await pagesOfPaperSize();
    const examples = await collectionOf("policies");
    const rows = METHOD_NAMES.map((method) => rowOf(method, pages, modelOf(method, examples)));
    return { rows, plots: [] };
  },
};

/** Real pages of about the paper's mean size. */
async function pagesOfPaperSize(): Promise<Page[]> {
  const pages: Page[] = [];
  const take = (html: Uint8Array): void => {
    if (html.length >= BYTES_LEAST && html.length <= BYTES_MOST)
      pages.push({ html, text: Buffer.from(visibleText(html, TEXT_CHARACTERS_MAX)) });
  };
  for await (const html of campusPages()) take(html);
  for await (const { html } of wikipediaPages()) take(html);
  return pages;
}

function modelOf(method: MethodName, examples: Examples): Model {
  const trained = METHODS[method].train(examples, allPages(examples));
  return { method, trained, calibration: UNCALIBRATED, trainedOn: [] };
}

function rowOf(method: MethodName, pages: readonly Page[], model: Model): Row {
  const classifier = new Classifier(model);
  const htmlBytes = pages.reduce((sum, { html }) => sum + html.length, 0);
  const textBytes = pages.reduce((sum, { text }) => sum + text.length, 0);
  const fromText = pagesPerSecond(pages, ({ text }) => classifier.ofText(text));
  const fromHtml = pagesPerSecond(pages, ({ html }) => classifier.ofHtml(html));
  return {
    method,
    pages: pages.length,
    meanHtmlBytes: Math.round(htmlBytes / pages.length),
    meanTextBytes: Math.round(textBytes / pages.length),
    textPagesPerSecond: Math.round(fromText),
    htmlPagesPerSecond: Math.round(fromHtml),
    htmlMegabytesPerSecond: rounded((fromHtml * htmlBytes) / pages.length / 1e6, 1),
    paperPagesPerSecond: PAPER_PAGES_PER_SECOND[method] ?? null,
  };
}

/** Pages per second of CPU time, which other processes affect less than wall time; best of all repetitions. */
function pagesPerSecond(pages: readonly Page[], classify: (page: Page) => unknown): number {
  let best = 0;
  for (let round = 0; round < REPETITIONS; round++) {
    const begun = process.cpuUsage();
    for (const page of pages) classify(page);
    const { user, system } = process.cpuUsage(begun);
    best = Math.max(best, (1e6 * pages.length) / (user + system));
  }
  return best;
}
