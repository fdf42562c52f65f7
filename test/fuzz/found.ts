/** Inputs that once broke a promise, minimised by the fuzzer or written after what it found. */

import type { FoundInput } from "./target.ts";

const AN_EMPTY_PAGE = "<script src=x></script>";

export const FOUND: readonly FoundInput[] = [
  ...["<input ", "<a ", "<button<x", "<noscript "].map((tag) => ({
    target: "html",
    was: `a page of ${JSON.stringify(tag)} took quadratic time to be judged a wall`,
    input: Buffer.from(AN_EMPTY_PAGE + tag.repeat(100_000 / tag.length)),
  })),
  {
    target: "sitemap",
    was: "what follows the end of a sitemap was judged or not, depending on its pieces",
    input: Buffer.from("<urlset></urlset><!DOCTYPE x ["),
  },
];
