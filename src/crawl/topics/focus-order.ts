/**
 * Orders the queue by how likely a link leads to the topic that is looked for, and learns from every page how
 * well it guessed.
 *
 * What a link deadlines is kept until its page has come, for the latest so many; older ones teach nothing.
 */

import type { Focus, LinkFeatures } from "../../topics/focus.ts";
import { siteOf } from "../../url/site.ts";
import { splitPath } from "../../url/url.ts";
import type { Candidate } from "../../frontier/priority.ts";
import type { Ordering } from "../ordering.ts";
import type { Reading } from "../parse-page.ts";

const REMEMBERED_MAX = 100_000;
/** Above this a page is taken for one about the topic. */
const ON_TOPIC = 0.5;
const WORDS = /[^\p{L}\p{N}]+/u;

export class FocusOrder implements Ordering {
  readonly #focus: Focus;
  /** What was known of waiting URLs when they were found, oldest first. */
  readonly #deadlines = new Map<string, LinkFeatures>();
  /** Links of the page that is being read. */
  #anchors = new Map<string, string>();
  #fromProbability = 0;

  constructor(focus: Focus) {
    this.#focus = focus;
  }

  linking(url: string, { onTopic, anchors }: Reading): void {
    this.#anchors = new Map(anchors.map((link) => [link.url, link.text]));
    this.#fromProbability = onTopic;
    const deadlines = this.#deadlines.get(url);
    if (deadlines === undefined) return;
    this.#deadlines.delete(url);
    this.#focus.learn(deadlines, onTopic >= ON_TOPIC, this.#leads());
  }

  scoreOf({ url, depth, from }: Candidate): number | undefined {
    const text = this.#anchors.get(url);
    // A seed goes first, whatever it is about.
    if (text === undefined && depth === 0) return undefined;
    const features = text === undefined ? this.#unlinked(url, from) : this.#featuresOf(url, text);
    this.#deadlines.set(url, features);
    if (this.#deadlines.size > REMEMBERED_MAX)
      for (const oldest of this.#deadlines.keys()) {
        this.#deadlines.delete(oldest);
        break;
      }
    return this.#focus.score(features);
  }

  /** Named by a sitemap, or where a redirect leads: that promises what the redirected link did. */
  #unlinked(url: string, from: string | undefined): LinkFeatures {
    const deadlines = from === undefined ? undefined : this.#deadlines.get(from);
    const { anchorWords = [], fromProbability = this.#focus.base } = deadlines ?? {};
    return { ...this.#featuresOf(url, ""), anchorWords, fromProbability };
  }

  linked(): void {
    this.#anchors = new Map();
  }

  start(): void {}
  stop(): void {}

  /** What is expected of the page's own links: the best of a few. */
  #leads(): number {
    let best = 0;
    let count = 0;
    for (const [url, text] of this.#anchors) {
      best = Math.max(best, this.#focus.score(this.#featuresOf(url, text)));
      count += 1;
      if (count >= LOOKED_AT) break;
    }
    return best;
  }

  #featuresOf(url: string, text: string): LinkFeatures {
    const { path, query } = splitPath(url);
    return {
      fromProbability: this.#fromProbability,
      anchorWords: wordsOf(text),
      urlWords: wordsOf(`${path} ${query}`),
      siteKey: siteOf(url),
    };
  }
}

const LOOKED_AT = 20;

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(WORDS)
    .filter((word) => word.length > 1);
}
