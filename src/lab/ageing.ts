/**
 * Pages that change as time goes by: gives what a server says the version that its page has now.
 *
 * Changes of a page come as a Poisson process from a seed, so that how often it changes is known, and
 * when it did can be asked for any moment.
 */

import { randomFrom } from "../base/random.ts";
import type { Conduct } from "./faults.ts";

/** When a page changes, counted from the beginning: one list of times, made as far as it is asked for. */
export class Ageing {
  readonly #nextAtMs: () => number;
  readonly #changesAtMs: number[] = [];

  /** `everyMs` is the mean time between two changes; Infinity for a page that stays as it is. */
  constructor(seed: number, everyMs: number) {
    const random = randomFrom(seed);
    let atMs = 0;
    this.#nextAtMs = () => (atMs += -Math.log(1 - random.next()) * everyMs);
  }

  /** How often it has changed by then. */
  versionAt(ageMs: number): number {
    while ((this.#changesAtMs.at(-1) ?? -Infinity) <= ageMs)
      this.#changesAtMs.push(this.#nextAtMs());
    return this.#changesAtMs.findIndex((atMs) => atMs > ageMs);
  }
}

/** The same conduct with a page of this version; `etag` is the asker's. */
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
