/**
 * Figure 3 of the paper on topics: the share of links between two pages of the same topic.
 *
 * Uses Wikipedia for Schools with all links between articles. Articles are split into two halves, and each half is
 * classified by a classifier trained on the other. For comparison: the true subjects, a partition by hash with as
 * many processes, 1/n, and random pairs with topics of these sizes.
 */

import { below, randomFrom } from "../../base/random.ts";
import { digestOf } from "../../page/digest.ts";
import { Bag } from "../../topics/bag.ts";
import { Examples } from "../../topics/examples.ts";
import { METHOD_NAMES, METHODS, type MethodName } from "../../topics/methods.ts";
import { Tokens } from "../../topics/tokens.ts";
import { topSubject } from "../topics-collections.ts";
import { wikipediaLinks, wikipediaPages } from "../topics-data.ts";
import {
  type Experiment,
  inEveryWorld,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";
import { shortName, TOPICS_PAPER } from "./topics-accuracy.ts";

const PAPER_LOCALITY: Readonly<Partial<Record<string, number>>> = {
  "naive-bayes": 62.4,
  lewis: 62.3,
  rocchio: 48.9,
};
const TRUTH = "true subjects";

export interface Graph {
  readonly examples: Examples;
  /** Length of each article. */
  readonly bytes: readonly number[];
  readonly digests: readonly Uint8Array[];
  /** Pairs of article numbers: from, to, from, to … */
  readonly links: Int32Array;
}

interface Locality {
  readonly all: number;
  /** Locality of links from the pages of each topic. */
  readonly byTopic: readonly number[];
  /** Probability that two random pages have the same topic. */
  readonly chance: number;
}

export const topicsLocality: Experiment = {
  name: "topics-locality",
  paper: `${TOPICS_PAPER}, Figure 3`,
  about:
    "Share of links between two pages of the same topic, according to each classifier and to the true subjects, on Wikipedia for Schools and its links. Needs labelled pages that are not part of Weir.",
  parameters: { topics: 15 },
  async run(options) {
    const graph = await readGraph();
    const found: { readonly name: string; readonly worlds: readonly Locality[] }[] = [
      { name: TRUTH, worlds: [localityOf(graph, trueTopics(graph.examples))] },
    ];
    for (const method of METHOD_NAMES) {
      const worlds = await inEveryWorld(options, async (seed) =>
        localityOf(graph, classifiedTopics(graph.examples, method, seed)),
      );
      found.push({ name: method, worlds });
    }
    return {
      rows: found.map(({ name, worlds }) => rowOf(name, worlds, graph)),
      plots: [plotOf(graph.examples.topics, found)],
    };
  },
};

export async function readGraph(): Promise<Graph> {
  const examples = new Examples();
  const tokens = new Tokens();
  const bag = new Bag();
  const numbers = new Map<string, number>();
  const bytes: number[] = [];
  const digests: Uint8Array[] = [];
  for await (const { path, subjects, html } of wikipediaPages()) {
    tokens.takeHtml(html);
    bag.take(tokens);
    numbers.set(path, examples.count);
    bytes.push(html.length);
    digests.push(digestOf(html));
    examples.add(examples.topicNamed(topSubject(subjects)), bag);
  }
  examples.sortTopics();
  const links: number[] = [];
  for await (const [from, to] of wikipediaLinks()) {
    const source = numbers.get(from);
    const target = numbers.get(to);
    if (source !== undefined && target !== undefined && source !== target)
      links.push(source, target);
  }
  return { examples, bytes, digests, links: Int32Array.from(links) };
}

function trueTopics(examples: Examples): Int32Array {
  return Int32Array.from({ length: examples.count }, (_, page) => examples.topicOf(page));
}

/** The topic of each page according to a classifier trained without it. */
export function classifiedTopics(examples: Examples, name: MethodName, seed: number): Int32Array {
  const random = randomFrom(seed);
  const half = Uint8Array.from({ length: examples.count }, () => below(random, 2));
  const classified = new Int32Array(examples.count);
  const scores = new Float64Array(examples.topics.length);
  for (const part of [0, 1]) {
    const numbers = Int32Array.from(half, (_, page) => page);
    const trained = METHODS[name].train(
      examples,
      numbers.filter((page) => half[page] !== part),
    );
    for (const page of numbers.filter((other) => half[other] === part)) {
      METHODS[name].score(trained, examples.page(page), scores);
      classified[page] = scores.indexOf(Math.max(...scores));
    }
  }
  return classified;
}

function localityOf({ examples, links }: Graph, topicOf: Int32Array): Locality {
  const width = examples.topics.length;
  const from = new Float64Array(width);
  const within = new Float64Array(width);
  const pages = new Float64Array(width);
  for (const topic of topicOf) pages[topic] = (pages[topic] as number) + 1;
  for (let at = 0; at < links.length; at += 2) {
    const topic = topicOf[links[at] as number] as number;
    from[topic] = (from[topic] as number) + 1;
    if (topicOf[links[at + 1] as number] === topic) within[topic] = (within[topic] as number) + 1;
  }
  return {
    all: sumOf(within) / Math.max(1, links.length / 2),
    byTopic: Array.from(within, (count, topic) => count / Math.max(1, from[topic] as number)),
    chance: pages.reduce((total, count) => total + (count / topicOf.length) ** 2, 0),
  };
}

function sumOf(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

function rowOf(name: string, worlds: readonly Locality[], { examples, links }: Graph): Row {
  const all = meanOf(worlds.map((world) => world.all));
  const chance = meanOf(worlds.map((world) => world.chance));
  return {
    topicsBy: name,
    links: links.length / 2,
    localityPercent: rounded(100 * all, 1),
    chancePercent: rounded(100 * chance, 1),
    hashPercent: rounded(100 / examples.topics.length, 1),
    timesHash: rounded(all * examples.topics.length, 1),
    paperPercent: PAPER_LOCALITY[name] ?? null,
  };
}

function plotOf(
  topics: readonly string[],
  found: readonly { readonly name: string; readonly worlds: readonly Locality[] }[],
): Plot {
  return {
    name: "topics-locality",
    title: "Linked pages of the linking page's topic (Figure 3)",
    x: { label: "topic of the linking page", unit: "", names: topics.map(shortName) },
    y: { label: "same topic", unit: "%" },
    lines: found.map(({ name, worlds }) => ({
      name,
      kind: name === TRUTH ? "dotted" : "solid",
      points: topics.map(
        (_, topic) =>
          [topic + 1, 100 * meanOf(worlds.map((world) => world.byTopic[topic] ?? 0))] as const,
      ),
    })),
  };
}
