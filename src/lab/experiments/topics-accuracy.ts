/**
 * Figure 2 of the paper on topics: how often is each classifier right? And how well is English told from other
 * languages?
 *
 * On three collections, because the paper's own pages are not to be had: Wikipedia for Schools (15 subjects), terms and
 * privacy pages of sites in the paper's very categories, which is harder than the paper's task, and 20 Newsgroups. As in the
 * paper half of each topic, at most 500 pages, is for training and as many for testing; every world is another draw of
 * the halves, the same for all methods.
 */

import { Evaluation } from "../../topics/evaluation.ts";
import type { Examples } from "../../topics/examples.ts";
import { halvesOf, PAGES_PER_TOPIC_MAX } from "../../topics/halves.ts";
import { METHOD_NAMES, METHODS, type MethodName } from "../../topics/methods.ts";
import { COLLECTIONS, collectionOf, type CollectionName } from "../topics-collections.ts";
import {
  type Experiment,
  inEveryWorld,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";
import { languageRows } from "./topics-language.ts";

export const TOPICS_PAPER = "Chung and Clarke, Topic-Oriented Collaborative Crawling, CIKM 2002";
/** Per cent right on 15 topics of the Open Directory. */
const PAPER_ACCURACY: Readonly<Partial<Record<MethodName, number>>> = {
  "naive-bayes": 60.7,
  lewis: 58.2,
  rocchio: 43.7,
};
const NAMES = Object.keys(COLLECTIONS) as CollectionName[];

export const topicsAccuracy: Experiment = {
  name: "topics-accuracy",
  paper: `${TOPICS_PAPER}, Figure 2`,
  about:
    "How often the paper's three classifiers and Weir's own are right, on three labelled collections, and how well English is distinguished from other languages. Needs the labelled pages, which do not come with Weir; about fifteen seconds for each world.",
  parameters: { pagesPerTopicMax: PAGES_PER_TOPIC_MAX },
  async run(options) {
    const rows: Row[] = [];
    const plots: Plot[] = [];
    for (const name of NAMES) {
      const examples = await collectionOf(name);
      const found = await Promise.all(
        METHOD_NAMES.map(async (method) => ({
          method,
          worlds: await inEveryWorld(options, async (seed) => tested(examples, method, seed)),
        })),
      );
      rows.push(...found.map(({ method, worlds }) => rowOf(name, method, worlds)));
      plots.push(plotOf(name, examples.topics, found));
    }
    return { rows: [...rows, ...(await languageRows())], plots };
  },
};

export function tested(examples: Examples, name: MethodName, seed: number): Evaluation {
  const { train, test } = halvesOf(examples, seed);
  const method = METHODS[name];
  const trained = method.train(examples, train);
  const evaluation = new Evaluation(examples.topics);
  const scores = new Float64Array(examples.topics.length);
  for (const page of test) {
    method.score(trained, examples.page(page), scores);
    evaluation.add(examples.topicOf(page), scores.indexOf(Math.max(...scores)), 1);
  }
  return evaluation;
}

/** Means over the worlds; the interval is that of one test of as many pages. */
function rowOf(name: CollectionName, method: MethodName, worlds: readonly Evaluation[]): Row {
  const percent = (of: (evaluation: Evaluation) => number): number =>
    rounded(100 * meanOf(worlds.map(of)), 1);
  return {
    collection: COLLECTIONS[name],
    method,
    pages: worlds[0]?.pages ?? 0,
    accuracyPercent: percent(({ accuracy }) => accuracy),
    low95: percent(({ accuracyInterval }) => accuracyInterval[0]),
    high95: percent(({ accuracyInterval }) => accuracyInterval[1]),
    macroF1Percent: percent(({ macroF1 }) => macroF1),
    paperPercent: PAPER_ACCURACY[method] ?? null,
  };
}

function plotOf(
  name: CollectionName,
  topics: readonly string[],
  found: readonly { readonly method: MethodName; readonly worlds: readonly Evaluation[] }[],
): Plot {
  return {
    name: `topics-accuracy-${name}`,
    title: `Pages put into the right topic, ${COLLECTIONS[name]} (Figure 2)`,
    x: { label: "topic", unit: "", names: topics.map(shortName) },
    y: { label: "right", unit: "%" },
    lines: found.map(({ method, worlds }) => ({
      name: method,
      kind: method === "linear" ? "dotted" : "solid",
      points: topics.map((_, topic) => {
        const shares = worlds.map((world) => world.perTopic()[topic]?.recall ?? 0);
        return [topic + 1, 100 * meanOf(shares)] as const;
      }),
    })),
  };
}

/** As the paper writes them: "adu art bus". */
export function shortName(topic: string): string {
  const last = topic.split(".").at(-1) ?? topic;
  return last.slice(0, 4).toLowerCase();
}
