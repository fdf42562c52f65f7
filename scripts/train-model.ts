/**
 * Makes the model that comes with Weir, `models/topics-en.model`, from labelled pages in `../shared/data`; byte for
 * byte the same every time.
 *
 * The topics are X4's, those of the Open Directory. Pages with just these labels are only there as terms and privacy
 * pages; they know what sites of a topic are called and sell, not how people write about it. So articles of Wikipedia for
 * Schools and posts of 20 Newsgroups are added where their subjects are plainly one of the topics.
 *
 * Usage: node scripts/train-model.ts          writes the model, trained on everything
 *        node scripts/train-model.ts --test   trains on half and tells how good that is on the other half
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { newsgroupPosts, policyPages, wikipediaPages } from "../src/lab/topics-data.ts";
import { Bag } from "../src/topics/bag.ts";
import { toProbabilities, termsIn } from "../src/topics/calibration.ts";
import { TERMS_MIN } from "../src/topics/classify.ts";
import { Evaluation } from "../src/topics/evaluation.ts";
import { allPages, Examples } from "../src/topics/examples.ts";
import { halvesOf } from "../src/topics/halves.ts";
import { METHODS } from "../src/topics/methods.ts";
import { decodeModel, encodeModel, type LoadedModel } from "../src/topics/model.ts";
import { Tokens } from "../src/topics/tokens.ts";
import { trainModel } from "../src/topics/train.ts";

const FILE = "models/topics-en.model";
const TERMS_MAX = 80_000;
const SEED = 1;
/** Of each topic, from each collection; the policy pages have the right labels, so they may be more. */
const PAGES_MAX = { policies: 1000, wikipedia: 500, newsgroups: 500 } as const;

const TOPICS = [
  "adult",
  "arts",
  "business",
  "computers",
  "games",
  "health",
  "home",
  "kids",
  "news",
  "recreation",
  "reference",
  "science",
  "shopping",
  "society",
  "sports",
];

/** Beginnings of subjects, and the topic that they are plainly of; the first that fits counts. */
const SUBJECTS: readonly (readonly [beginning: RegExp, topic: string])[] = [
  [/^Science\.Biology\.Health/, "health"],
  [/^(Science|Mathematics|Design_and_Technology\.Engineering)/, "science"],
  [/^Geography\.(Geology|Mineralogy|Climate|Storms)/, "science"],
  [/^(Art|Music|Design_and_Technology\.Architecture)/, "arts"],
  [/^Language_and_literature\.(Novels|Theatre|Poetry|Literature|General_Lit)/, "arts"],
  [/^Everyday_life\.(Television|Films|Cartoons)/, "arts"],
  [/^People\.(Writers|Performers|Artists|Actors|Producers)/, "arts"],
  [/^Business/, "business"],
  [/^IT/, "computers"],
  [/^Everyday_life\.(Computer_and_Video|Games)/, "games"],
  [/^(Everyday_life|People)\.Sports/, "sports"],
  [/^Everyday_life\.(Food|Drink)/, "home"],
  [/^(Religion|History)/, "society"],
  [/^Citizenship\.(Politics|Law|Animal|Culture|Conflict|Community)/, "society"],
  [/^People\.(Religious|Political|Philosophers)/, "society"],
  [/^(Everyday_life\.Recreation|Design_and_Technology\.(Road|Air|Railway))/, "recreation"],
];
const GROUPS: readonly (readonly [beginning: RegExp, topic: string])[] = [
  [/^(comp|sci\.crypt)/, "computers"],
  [/^rec\.sport/, "sports"],
  [/^rec\.(autos|motorcycles)/, "recreation"],
  [/^sci\.med/, "health"],
  [/^sci\.(space|electronics)/, "science"],
  [/^misc\.forsale/, "shopping"],
  [/^(talk|soc|alt)/, "society"],
];

type Name = keyof typeof PAGES_MAX;
type Collections = Readonly<Record<Name, Examples>>;

const collections = await gather();
if (process.argv.includes("--test")) testOnHalves();
else {
  const model = trained(joined((examples) => allPages(examples), PAGES_MAX));
  mkdirSync("models", { recursive: true });
  writeFileSync(FILE, encodeModel(model));
  console.log(`${FILE}: ${model.trained.table.size} terms, ${model.digest}`);
  console.log(TOPICS.map((topic, index) => `${topic} ${model.trainedOn[index]}`).join(", "));
}

async function gather(): Promise<Collections> {
  const tokens = new Tokens();
  const bag = new Bag();
  const all = {
    policies: new Examples(TOPICS),
    wikipedia: new Examples(TOPICS),
    newsgroups: new Examples(TOPICS),
  };
  const add = (name: Name, topic: string | undefined): void => {
    if (topic === undefined || tokens.count < TERMS_MIN) return;
    bag.take(tokens);
    all[name].add(TOPICS.indexOf(topic), bag);
  };
  for await (const { topic, text } of policyPages()) {
    tokens.takeText(text);
    add("policies", topic);
  }
  for await (const { subjects, html } of wikipediaPages()) {
    tokens.takeHtml(html);
    add("wikipedia", topicOf(subjects[0] ?? "", SUBJECTS));
  }
  for await (const { topic, text } of newsgroupPosts()) {
    tokens.takeText(text);
    add("newsgroups", topicOf(topic, GROUPS));
  }
  return all;
}

function topicOf(subject: string, table: typeof SUBJECTS): string | undefined {
  return table.find(([beginning]) => beginning.test(subject))?.[1];
}

/** Some pages of every collection as one; no more of a topic than a collection may give. */
function joined(
  pagesOf: (examples: Examples) => Int32Array,
  pagesMax: Readonly<Record<Name, number>>,
): Examples {
  const joint = new Examples(TOPICS);
  for (const [name, examples] of Object.entries(collections) as [Name, Examples][]) {
    const left = new Int32Array(TOPICS.length).fill(pagesMax[name]);
    for (const page of pagesOf(examples)) {
      const topic = examples.topicOf(page);
      if (left[topic] === 0) continue;
      left[topic] = (left[topic] ?? 0) - 1;
      joint.add(topic, examples.page(page));
    }
  }
  return joint;
}

/** As it will be when it was written and read again. */
function trained(examples: Examples): LoadedModel {
  const training = trainModel(examples, allPages(examples), {
    method: "linear",
    termsMax: TERMS_MAX,
  });
  if (training.kind === "refused") throw new Error(training.why);
  const reading = decodeModel(encodeModel(training.model));
  if (reading.kind === "refused") throw new Error(reading.why);
  return reading.model;
}

function testOnHalves(): void {
  const halves = (examples: Examples): ReturnType<typeof halvesOf> => halvesOf(examples, SEED, 500);
  const half = { policies: 500, wikipedia: 250, newsgroups: 250 };
  const model = trained(joined((examples) => halves(examples).train, half));
  const { method, calibration } = model;
  for (const [name, examples] of Object.entries(collections)) {
    const evaluation = new Evaluation(TOPICS);
    const scores = new Float64Array(TOPICS.length);
    for (const page of halves(examples).test) {
      METHODS[method].score(model.trained, examples.page(page), scores);
      const called = toProbabilities(scores, termsIn(examples.page(page)), calibration);
      evaluation.add(examples.topicOf(page), called, scores[called] ?? 0);
    }
    const [low, high] = evaluation.accuracyInterval.map((share) => (100 * share).toFixed(1));
    console.log(
      `${name}: ${(100 * evaluation.accuracy).toFixed(1)} % of ${evaluation.pages} (${low} to ${high}), macro-F1 ${(100 * evaluation.macroF1).toFixed(1)} %, calibration error ${(100 * evaluation.calibrationError).toFixed(1)} %`,
    );
  }
}
