/**
 * Topics: what a page costs, what a model costs, and whether a library would know languages better.
 *
 * node bench/topics.ts speed|model|languages
 *
 * `speed`: microseconds of processor time for each step of a page around the paper's mean size, best of many rounds.
 * `model`: the processor time that the model which comes with Weir takes to load, in a fresh process, and the memory it keeps.
 * `languages`: English pages known as English and others as others, by the paper's test, by ours, and by those libraries
 * that are there (npm install --no-save franc-min eld tinyld cld3-asm, in bench/), with the time that a page takes.
 *
 * All but `model` need the labelled pages in ../shared/data.
 */

import { execFileSync } from "node:child_process";
import { modelOf, pagesOfThePapersSize } from "../src/lab/experiments/topics-speed.ts";
import { collectionOf } from "../src/lab/topics-collections.ts";
import { wikipediaPages, worldPages } from "../src/lab/topics-data.ts";
import { END_OF_PAGE, HtmlScanner } from "../src/page/html-scanner.ts";
import { visibleText } from "../src/page/text.ts";
import { Bag } from "../src/topics/bag.ts";
import { TERMS_MIN } from "../src/topics/classify.ts";
import { wilson } from "../src/topics/evaluation.ts";
import { EnglishShare } from "../src/lab/english-share.ts";
import { LanguageGuesser } from "../src/topics/language.ts";
import { METHOD_NAMES, METHODS } from "../src/topics/methods.ts";
import { Tokens } from "../src/topics/tokens.ts";

const ROUNDS = 20;
const LOADS = 7;
/** What libraries are given of a page. */
const CHARACTERS_MAX = 6000;

/** Microseconds of processor time for each item, in the best of many rounds. */
function cost<T>(items: readonly T[], step: (item: T) => unknown, rounds = ROUNDS): number {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const begun = process.cpuUsage();
    for (const item of items) step(item);
    const { user, system } = process.cpuUsage(begun);
    best = Math.min(best, (user + system) / items.length);
  }
  return best;
}

async function speed(): Promise<void> {
  const pages = await pagesOfThePapersSize();
  const mean = (of: (page: (typeof pages)[number]) => number): number =>
    Math.round(pages.reduce((sum, page) => sum + of(page), 0) / pages.length);
  console.log(
    `${pages.length} pages, ${mean(({ html }) => html.length)} bytes of HTML, ${mean(({ text }) => text.length)} of text\n`,
  );
  const tokens = new Tokens();
  const bag = new Bag();
  const guesser = new LanguageGuesser();
  const scanner = new HtmlScanner({ tellImages: false });
  const scan = (html: Uint8Array): void => {
    scanner.start(html);
    while (scanner.next() !== END_OF_PAGE);
  };
  const examples = await collectionOf("policies");
  const scores = new Float64Array(examples.topics.length);
  const steps: [name: string, step: (page: (typeof pages)[number]) => unknown][] = [
    ["tags stepped over, in a crawl done already", ({ html }) => scan(html)],
    ["words, from text", ({ text }) => tokens.takeText(text)],
    ["words, from HTML", ({ html }) => tokens.takeHtml(html)],
    [
      "words from text, and their language",
      ({ text }) => (tokens.takeText(text), guesser.guess(tokens)),
    ],
    ["words from text, counted", ({ text }) => (tokens.takeText(text), bag.take(tokens))],
  ];
  for (const method of METHOD_NAMES) {
    const { trained } = modelOf(method, examples);
    steps.push([
      `words from text, counted, ${method}`,
      ({ text }) => {
        tokens.takeText(text);
        bag.take(tokens);
        METHODS[method].score(trained, bag, scores);
      },
    ]);
  }
  console.log("| step | µs a page |\n|---|--:|");
  for (const [name, step] of steps) console.log(`| ${name} | ${cost(pages, step).toFixed(1)} |`);
}

function model(): void {
  const script = `
    const before = process.memoryUsage();
    const ms = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
    const begunMs = ms();
    const { loadTopicModel } = await import("./src/config/topic-model.ts");
    const importedMs = ms();
    const model = loadTopicModel();
    const loadedMs = ms();
    globalThis.gc();
    const after = process.memoryUsage();
    const kept = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    console.log(JSON.stringify([importedMs - begunMs, loadedMs - importedMs, kept / 1e6, model.trained.table.size]));`;
  const runs = Array.from({ length: LOADS }, () => {
    const words = ["--expose-gc", "--input-type=module", "-e", script];
    return JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8" })) as number[];
  });
  const median = (place: number): string =>
    (runs.map((run) => run[place] ?? NaN).toSorted((a, b) => a - b)[LOADS >> 1] ?? NaN).toFixed(1);
  console.log(
    `${runs[0]?.[3]} terms: modules ${median(0)} ms, model ${median(1)} ms, ${median(2)} MB kept (medians of ${LOADS})`,
  );
}

interface Sample {
  readonly html: Uint8Array;
  readonly text: string;
}

type Knows = (sample: Sample) => boolean;

async function languages(): Promise<void> {
  const [english, others] = await samples();
  console.log(`${english.length} English pages, ${others.length} others\n`);
  console.log(
    "| method | English known % | 95 % | others known % | 95 % | µs a page |\n|---|--:|---|--:|---|--:|",
  );
  for (const [name, isEnglish] of await contenders()) {
    const right = english.filter(isEnglish).length;
    const kept = others.filter((sample) => !isEnglish(sample)).length;
    const us = cost([...english.slice(0, 200), ...others.slice(0, 200)], isEnglish, 3);
    console.log(
      `| ${name} | ${share(right, english.length)} | ${share(kept, others.length)} | ${us.toFixed(0)} |`,
    );
  }
}

function share(right: number, all: number): string {
  const [low, high] = wilson(right, all);
  return `${((100 * right) / all).toFixed(2)} | ${(100 * low).toFixed(2)} to ${(100 * high).toFixed(2)}`;
}

async function samples(): Promise<[english: Sample[], others: Sample[]]> {
  const tokens = new Tokens();
  const english: Sample[] = [];
  const others: Sample[] = [];
  const add = (list: Sample[], html: Uint8Array): void => {
    tokens.takeHtml(html);
    if (tokens.count >= TERMS_MIN) list.push({ html, text: visibleText(html, CHARACTERS_MAX) });
  };
  for await (const { html } of wikipediaPages()) add(english, html);
  for await (const { declared, html } of worldPages())
    if (declared !== undefined && declared !== "en") add(others, html);
  return [english, others];
}

async function contenders(): Promise<[name: string, knows: Knows][]> {
  const tokens = new Tokens();
  const share = new EnglishShare();
  const guesser = new LanguageGuesser();
  const all: [string, Knows][] = [
    [
      "common English words (paper)",
      ({ html }) => (tokens.takeHtml(html), share.isEnglish(tokens)),
    ],
    ["ours", ({ html }) => (tokens.takeHtml(html), guesser.guess(tokens).code === "en")],
  ];
  const tryTo = async (name: string, load: () => Promise<Knows>): Promise<void> => {
    try {
      all.push([name, await load()]);
    } catch {
      console.error(`${name} is not there`);
    }
  };
  // Names in variables, for they need not be installed.
  const [franc, eld, tinyld, cld3] = ["franc-min", "eld", "tinyld", "cld3-asm"];
  await tryTo("franc-min", async () => {
    const library = (await import(franc as string)) as { franc: (text: string) => string };
    return ({ text }) => library.franc(text) === "eng";
  });
  await tryTo("eld", async () => {
    type Eld = {
      load: (size: string) => Promise<unknown>;
      detect: (text: string) => { language: string };
    };
    const { eld: detector } = (await import(eld as string)) as { eld: Eld };
    await detector.load("small");
    return ({ text }) => detector.detect(text).language === "en";
  });
  await tryTo("tinyld", async () => {
    const library = (await import(tinyld as string)) as { detect: (text: string) => string };
    return ({ text }) => library.detect(text) === "en";
  });
  await tryTo("cld3-asm", async () => {
    type Factory = { create: () => { findLanguage: (text: string) => { language: string } } };
    const library = (await import(cld3 as string)) as { loadModule: () => Promise<Factory> };
    const detector = (await library.loadModule()).create();
    return ({ text }) => detector.findLanguage(text).language === "en";
  });
  return all;
}

const PARTS: Readonly<Record<string, () => Promise<void> | void>> = { speed, model, languages };
const part = PARTS[process.argv[2] ?? ""];
if (part === undefined) console.error("node bench/topics.ts speed|model|languages");
else await part();
