/**
 * Classifies a page: its topic with a probability, and its language.
 *
 * A page of fewer than 50 terms is `small`; otherwise a page in a language the model does not cover is `foreign`;
 * all other pages get a topic. `boundary.ts` decides whether the probability is enough to act on.
 *
 * The same page and model always give the same result, in every process. One classifier serves many pages, one
 * after the other, and takes about 40 KB besides the model. `probabilities` is valid until the next page.
 */

import type { TextRuns } from "../page/text-runs.ts";
import { Bag } from "./bag.ts";
import { toProbabilities } from "./calibration.ts";
import { LanguageGuesser } from "./language.ts";
import { ENGLISH } from "./language-words.ts";
import { METHODS } from "./methods.ts";
import type { Model } from "./model.ts";
import { Tokens } from "./tokens.ts";

/** The paper's minimum: a page with fewer terms is "unclassified". */
export const TERMS_MIN = 50;

/** The topic of a page with its probability, or why it has none. */
export type Verdict =
  /** Too few terms to have a topic. */
  | { readonly kind: "small"; readonly terms: number; readonly language: string | undefined }
  /** In a language that the model does not cover, or in an unknown one. */
  | { readonly kind: "foreign"; readonly terms: number; readonly language: string | undefined }
  | {
      readonly kind: "topic";
      readonly terms: number;
      readonly language: string | undefined;
      /** Index in the model's list of topics, and the topic's name. */
      readonly topic: number;
      readonly name: string;
      /** The calibrated probability that this is the topic. */
      readonly confidence: number;
    };

interface ClassifierOptions {
  /** Languages that the model's topics cover; with `any` the language is reported and decides nothing. */
  readonly languages: readonly string[] | "any";
}

const DEFAULTS: ClassifierOptions = { languages: [ENGLISH] };

/**
 * Classifies pages one after the other. The same page and model always give the same verdict.
 *
 * @example
 * import { Classifier, crawl, loadTopicModel } from "weir";
 *
 * const classifier = new Classifier(loadTopicModel());
 * for await (const { url, body } of crawl({ urls: ["https://example.org/"] })) {
 *   const verdict = classifier.ofHtml(body);
 *   if (verdict.kind === "topic") console.log(url, verdict.name, verdict.confidence);
 * }
 */
export class Classifier {
  readonly model: Model;
  /** By topic, for the page last classified; valid only if its verdict has a topic. */
  readonly probabilities: Float64Array;
  readonly #languages: ReadonlySet<string> | undefined;
  readonly #tokens = new Tokens();
  readonly #bag = new Bag();
  readonly #guesser = new LanguageGuesser();

  constructor(model: Model, { languages }: ClassifierOptions = DEFAULTS) {
    this.model = model;
    this.probabilities = new Float64Array(model.trained.topics.length);
    this.#languages = languages === "any" ? undefined : new Set(languages);
  }

  ofText(utf8: Uint8Array): Verdict {
    this.#tokens.takeText(utf8);
    return this.#judge();
  }

  ofHtml(html: Uint8Array): Verdict {
    this.#tokens.takeHtml(html);
    return this.#judge();
  }

  /** Classifies a page from its runs of visible text; see `page/html-scanner.ts`. */
  ofRuns(html: Uint8Array, runs: TextRuns): Verdict {
    this.#tokens.takeRuns(html, runs);
    return this.#judge();
  }

  #judge(): Verdict {
    const terms = this.#tokens.count;
    const language = this.#guesser.guess(this.#tokens).code;
    if (terms < TERMS_MIN) return { kind: "small", terms, language };
    if (this.#languages?.has(language ?? "") === false) return { kind: "foreign", terms, language };
    const { method, trained, calibration } = this.model;
    this.#bag.take(this.#tokens);
    METHODS[method].score(trained, this.#bag, this.probabilities);
    const topic = toProbabilities(this.probabilities, terms, calibration);
    const name = trained.topics[topic] as string;
    const confidence = this.probabilities[topic] as number;
    return { kind: "topic", terms, language, topic, name, confidence };
  }
}
