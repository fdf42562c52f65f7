/**
 * Splits examples as Chung and Clarke did: pages of each topic to train on, and as many others to test on.
 *
 * Half of each topic, at most 500 pages, drawn by the seed. The same seed gives every method the same pages.
 */

import { below, randomFrom } from "../base/random.ts";
import type { Examples } from "./examples.ts";

export const PAGES_PER_TOPIC_MAX = 500;

export interface Halves {
  readonly train: Int32Array;
  readonly test: Int32Array;
}

export function halvesOf(
  examples: Examples,
  seed: number,
  pagesPerTopicMax = PAGES_PER_TOPIC_MAX,
): Halves {
  const random = randomFrom(seed);
  const pagesOf: number[][] = examples.topics.map(() => []);
  for (let page = 0; page < examples.count; page++) pagesOf[examples.topicOf(page)]?.push(page);
  const train: number[] = [];
  const test: number[] = [];
  for (const pages of pagesOf) {
    for (let last = pages.length - 1; last > 0; last--) {
      const other = below(random, last + 1);
      [pages[last], pages[other]] = [pages[other] as number, pages[last] as number];
    }
    const half = Math.min(pagesPerTopicMax, Math.floor(pages.length / 2));
    train.push(...pages.slice(0, half));
    test.push(...pages.slice(half, 2 * half));
  }
  return { train: Int32Array.from(train), test: Int32Array.from(test) };
}
