/**
 * What a page is about: its topic, how sure that is, and its language; with the rules for pages that a
 * classifier should not be asked about.
 *
 * In this order: a page of fewer than 50 terms is too small to judge; one that is not in a language the
 * model was made for is `foreign`; all others get a topic with a probability. Whether the probability is enough
 * to act on is not decided here but in `boundary.ts`.
 *
 * The same page and model give the same answer everywhere, always. One classifier serves many pages, one
 * after the other; it keeps about 40 KB of its own besides the model. What it answers holds until asked again.
 */

import type { TextRuns } from "../page/text-runs.ts";
import { Bag } from "./bag.ts";
import { toProbabilities } from "./calibration.ts";
import { LanguageGuesser } from "./language.ts";
import { ENGLISH } from "./language-words.ts";
import { METHODS } from "./methods.ts";
import type { Model } from "./model.ts";
import { Tokens } from "./tokens.ts";

/** The paper's: with fewer terms a page is "unclassified". */
export const TERMS_MIN = 50;

export type Verdict =
  /** Too few terms to be about anything. */
  | { readonly kind: "small"; readonly terms: number; readonly language: string | undefined }
  /** In a language that the model does not know, or in none. */
  | { readonly kind: "foreign"; readonly terms: number; readonly language: string | undefined }
  | {
      readonly kind: "topic";
      readonly terms: number;
      readonly language: string | undefined;
      /** Its number in the model's list of topics, and its name. */
      readonly topic: number;
      readonly name: string;
      /** The calibrated probability that this is the topic. */
      readonly confidence: number;
    };

export interface ClassifierOptions {
  /** Languages that the model's topics are for; with `any` the language is told and decides nothing. */
  readonly languages: readonly string[] | "any";
  readonly termsMin: number;
}

const AS_THE_PAPER: ClassifierOptions = { languages: [ENGLISH], termsMin: TERMS_MIN };

export class Classifier {
  readonly model: Model;
  /** Of the page last classified, by topic; only where the verdict has a topic. */
  readonly probabilities: Float64Array;
  readonly #languages: ReadonlySet<string> | undefined;
  readonly #termsMin: number;
  readonly #tokens = new Tokens();
  readonly #bag = new Bag();
  readonly #guesser = new LanguageGuesser();

  constructor(model: Model, options: Partial<ClassifierOptions> = {}) {
    const { languages, termsMin } = { ...AS_THE_PAPER, ...options };
    this.model = model;
    this.probabilities = new Float64Array(model.trained.topics.length);
    this.#languages = languages === "any" ? undefined : new Set(languages);
    this.#termsMin = termsMin;
  }

  ofText(utf8: Uint8Array): Verdict {
    this.#tokens.takeText(utf8);
    return this.#judge();
  }

  ofHtml(html: Uint8Array): Verdict {
    this.#tokens.takeHtml(html);
    return this.#judge();
  }

  /** Of a page that a scanner went through; see `page/html-scanner.ts`. */
  ofRuns(html: Uint8Array, runs: TextRuns): Verdict {
    this.#tokens.takeRuns(html, runs);
    return this.#judge();
  }

  #judge(): Verdict {
    const terms = this.#tokens.count;
    const language = this.#guesser.guess(this.#tokens).code;
    if (terms < this.#termsMin) return { kind: "small", terms, language };
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
