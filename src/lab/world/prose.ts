/**
 * Generates sentences on a topic: common words of its language mixed with the topic's own words.
 *
 * The share of topic words varies between pages, as on the real web, so that classification is not
 * trivial.
 */

import type { Dice } from "./dice.ts";
import { TABLE_SIZE, type Topic } from "./vocabulary.ts";

const MASK = TABLE_SIZE - 1;

export class Prose {
  readonly #dice: Dice;
  readonly #topic: Topic;
  /** Number of topic words per 256 words. */
  readonly #density: number;

  constructor(dice: Dice, topic: Topic) {
    this.#dice = dice;
    this.#topic = topic;
    this.#density = 12 + dice.below(90);
  }

  /** Text of about this length in whole sentences; empty below 20 characters. */
  text(characters: number): string {
    let text = "";
    while (text.length < characters - 20) text += this.#sentence(characters - text.length);
    return text;
  }

  /** A few words of the topic, as a heading or an anchor. */
  phrase(wordCount: number): string {
    let phrase = this.#word(0);
    for (let count = 1; count < wordCount; count++) phrase += ` ${this.#word(count & 1 ? 255 : 0)}`;
    return phrase;
  }

  #sentence(charactersMax: number): string {
    const wordCount = Math.min(6 + (this.#dice.word() & 15), Math.ceil(charactersMax / 6));
    const first = this.#word(this.#density);
    let sentence = first.charAt(0).toUpperCase() + first.slice(1);
    for (let count = 1; count < wordCount; count++) sentence += ` ${this.#word(this.#density)}`;
    return `${sentence}. `;
  }

  #word(density: number): string {
    const draw = this.#dice.word();
    const table = ((draw >>> 16) & 255) < density ? this.#topic.own : this.#topic.common;
    return table[draw & MASK] ?? "";
  }
}
