/**
 * Orders the queue by the probability that a link leads to the wanted topic, and learns from every page whether the
 * estimate was right.
 *
 * The features of a link are kept until its page has arrived, for the latest 100,000 links.
 */

import type { Focus, LinkFeatures } from "../../topics/focus.ts";
import { siteOf } from "../../url/site.ts";
import { splitPath } from "../../url/url.ts";
import type { Candidate } from "../../frontier/priority.ts";
import type { Ordering } from "../ordering.ts";
import type { Reading } from "../parse-page.ts";

const REMEMBERED_MAX = 100_000;
/** Probability above which a page counts as about the topic. */
const ON_TOPIC = 0.5;
const WORDS = /[^\p{L}\p{N}]+/u;

export class FocusOrder implements Ordering {
  readonly #focus: Focus;
  /** Features of the links to waiting URLs, oldest first. */
  readonly #features = new Map<string, LinkFeatures>();
  /** Links of the page that is being recorded. */
  #anchors = new Map<string, string>();
  #fromProbability = 0;

  constructor(focus: Focus) {
    this.#focus = focus;
  }

  linking(url: string, { onTopic, anchors }: Reading): void {
    this.#anchors = new Map(anchors.map((link) => [link.url, link.text]));
    this.#fromProbability = onTopic;
    const features = this.#features.get(url);
    if (features === undefined) return;
    this.#features.delete(url);
    this.#focus.learn(features, onTopic >= ON_TOPIC, this.#leads());
  }

  scoreOf({ url, depth, from }: Candidate): number | undefined {
    const text = this.#anchors.get(url);
    // A seed has the score of its depth, whatever its topic.
    if (text === undefined && depth === 0) return undefined;
    const features = text === undefined ? this.#unlinked(url, from) : this.#featuresOf(url, text);
    this.#features.set(url, features);
    if (this.#features.size > REMEMBERED_MAX)
      for (const oldest of this.#features.keys()) {
        this.#features.delete(oldest);
        break;
      }
    return this.#focus.score(features);
  }

  /** For an entry of a sitemap, or the target of a redirect, which gets the features of the redirected link. */
  #unlinked(url: string, from: string | undefined): LinkFeatures {
    const features = from === undefined ? undefined : this.#features.get(from);
    const { anchorWords = [], fromProbability = this.#focus.base } = features ?? {};
    return { ...this.#featuresOf(url, ""), anchorWords, fromProbability };
  }

  linked(): void {
    this.#anchors = new Map();
  }

  /** The best score among the first links of the page. */
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

/** Links of a page whose scores are compared. */
const LOOKED_AT = 20;

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(WORDS)
    .filter((word) => word.length > 1);
}
