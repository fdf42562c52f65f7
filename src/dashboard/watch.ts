/**
 * Reads a crawl's folder for the dashboard, running or not, in this process or another.
 *
 * A running crawl rewrites `status.json` every second, so readers cost it nothing. After its end
 * the same file has the last state, and the store the totals. The recent rate of each site is
 * computed here, from one reading to the next.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { askCrawl, type Reply } from "../control/status-file.ts";
import { runningSnapshot, storedSnapshot } from "../results/crawl-folder.ts";
import type { Snapshot } from "../control/snapshot.ts";
import { StoreBrowser } from "../store/joined/browse.ts";
import { hasSearch } from "./search.ts";
import type { Look } from "./shapes.ts";

/** Over which a site's rate is measured. */
const RATE_MS = 4000;

/** The state of a site without requests. */
const AT_REST = { state: "idle", inFlight: 0, nextInMs: 0 } as const;

interface Sent {
  readonly atMs: number;
  readonly elapsedMs: number;
  readonly bytesBySite: ReadonlyMap<string, number>;
}

export class Watch implements Disposable {
  readonly #folder: string;
  readonly #name: string;
  readonly #sent: Sent[] = [];
  #changedAtMs = -1;
  #last: Look | undefined;
  #browser: StoreBrowser | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#name = basename(resolve(folder));
  }

  get folder(): string {
    return this.#folder;
  }

  [Symbol.dispose](): void {
    this.#browser?.[Symbol.dispose]();
    this.#browser = undefined;
  }

  /** Opened when first needed; throws when there is no crawl. */
  get store(): StoreBrowser {
    return (this.#browser ??= new StoreBrowser(this.#folder));
  }

  /** The same object again until the crawl has said something new, or has ended. */
  async look(): Promise<Look> {
    const running = runningSnapshot(this.#folder);
    const changedAtMs = this.#statusAtMs();
    const last = this.#last;
    const isNews = changedAtMs !== this.#changedAtMs || last?.isRunning !== (running !== undefined);
    if (last !== undefined && !isNews) return last;
    this.#changedAtMs = changedAtMs;
    const snapshot = running ?? (await this.#ended());
    this.#last = {
      name: this.#name,
      isRunning: running !== undefined,
      atMs: Date.now(),
      snapshot,
      siteRatesBps: running === undefined ? {} : this.#ratesOf(running, changedAtMs),
      hasSearch: hasSearch(this.#folder),
    };
    return this.#last;
  }

  /** Through the mailbox, as `weir set` does it. */
  async change(key: string, value: string): Promise<Reply> {
    return askCrawl(this.#folder, { key, value });
  }

  #statusAtMs(): number {
    const file = join(this.#folder, "status.json");
    return existsSync(file) ? statSync(file).mtimeMs : 0;
  }

  /** Its last words, with the sums of the store: what was said may be older than what was kept. */
  async #ended(): Promise<Snapshot> {
    const said = this.#lastWords();
    if (said === undefined) return storedSnapshot(this.#folder);
    const { totals } = this.store;
    const pending = totals.known - totals.done - totals.failed - totals.skipped;
    const isOver = said.state === "done" || said.state === "stopped";
    return {
      ...said,
      state: isOver ? said.state : pending === 0 ? "done" : "stopped",
      because: "",
      totals,
      pending,
      rateBps: 0,
      predictedBps: 0,
      pagesPerSecond: 0,
      waitingReaders: 0,
      connectionsOpen: 0,
      remainingMs: undefined,
      sites: said.sites.map((site) => Object.assign(site, AT_REST)),
    };
  }

  #lastWords(): Snapshot | undefined {
    try {
      const text = readFileSync(join(this.#folder, "status.json"), "utf8");
      const said = JSON.parse(text) as Snapshot;
      return Array.isArray(said.sites) && typeof said.totals === "object" ? said : undefined;
    } catch {
      return undefined;
    }
  }

  #ratesOf({ sites, elapsedMs }: Snapshot, atMs: number): Record<string, number> {
    const now: Sent = {
      atMs,
      elapsedMs,
      bytesBySite: new Map(sites.map(({ site, bytes }) => [site, bytes])),
    };
    // A clock that goes back is that of another run.
    if ((this.#sent.at(-1)?.elapsedMs ?? 0) > elapsedMs) this.#sent.length = 0;
    this.#sent.push(now);
    while (this.#sent.length > 2 && now.elapsedMs - (this.#sent[1]?.elapsedMs ?? 0) >= RATE_MS)
      this.#sent.shift();
    return ratesBetween(this.#sent[0] ?? now, now);
  }
}

function ratesBetween(before: Sent, now: Sent): Record<string, number> {
  const seconds = (now.elapsedMs - before.elapsedMs) / 1000;
  const rates: Record<string, number> = Object.create(null) as Record<string, number>;
  if (seconds <= 0) return rates;
  for (const [site, bytes] of now.bytesBySite) {
    const rateBps = (bytes - (before.bytesBySite.get(site) ?? bytes)) / seconds;
    if (rateBps > 0) rates[site] = rateBps;
  }
  return rates;
}
