/**
 * Simulates pages that change over time: adds the page's current version to a server's answer.
 *
 * The changes of a page are a Poisson process from a seed, so its rate is known and its version can
 * be computed for any time.
 */

import { randomFrom } from "../base/random.ts";
import type { Conduct } from "./faults.ts";

/** The times at which a page changes, counted from the start; the list is extended on demand. */
export class Ageing {
  readonly #nextAtMs: () => number;
  readonly #changesAtMs: number[] = [];

  /** `everyMs` is the mean time between two changes; Infinity for a page that never changes. */
  constructor(seed: number, everyMs: number) {
    const random = randomFrom(seed);
    let atMs = 0;
    this.#nextAtMs = () => (atMs += -Math.log(1 - random.next()) * everyMs);
  }

  /** Number of changes up to this age. */
  versionAt(ageMs: number): number {
    while ((this.#changesAtMs.at(-1) ?? -Infinity) <= ageMs)
      this.#changesAtMs.push(this.#nextAtMs());
    return this.#changesAtMs.findIndex((atMs) => atMs > ageMs);
  }
}

/** The same conduct with a page of this version; `etag` is that of the request. */
export function inVersion(conduct: Conduct, version: number, etag: string | undefined): Conduct {
  const { answer } = conduct;
  const tag = answer?.headers.find(([name]) => name === "etag")?.[1];
  if (answer?.status !== 200 || tag === undefined) return conduct;
  const tagNow = `${tag.slice(0, -1)}-v${version}"`;
  if (etag === tagNow) {
    const headers = [["etag", tagNow]] as const;
    const unchanged = { status: 304, statusText: "Not Modified", headers, body: new Uint8Array(0) };
    return { ...conduct, answer: unchanged };
  }
  const body = Buffer.concat([answer.body, Buffer.from(`<p>Version ${version}.\n`)]);
  const headers = answer.headers.map(([name, value]): [string, string] => {
    if (name === "etag") return [name, tagNow];
    return [name, name === "content-length" ? String(body.length) : value];
  });
  return { ...conduct, answer: { ...answer, headers, body } };
}
