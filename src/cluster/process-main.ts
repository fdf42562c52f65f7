/**
 * One crawling process under a supervisor: takes its job from it, crawls, and gives the result back.
 *
 * Started by `supervisor.ts` and by nobody else. It ends when its supervisor does, in good order: what is
 * stored is stored, and the same command goes on.
 */

import { systemClock } from "../base/clock.ts";
import { descriptorShortage } from "../base/descriptors.ts";
import { CrawlError } from "../base/errors.ts";
import { openCrawl } from "../crawl/open.ts";
import { ProcessBus } from "../exchange/bus-process.ts";
import type { Inbox } from "../exchange/bus.ts";
import { parentPort } from "../exchange/port.ts";
import { Agent } from "./agent.ts";
import { type Job, type Word, wordIn } from "./job.ts";
import { readDivision } from "./written-division.ts";
import { LogPost } from "./log-post.ts";
import { teamMeansFor } from "./team-means.ts";

// Ctrl-C reaches every process of a terminal; the supervisor alone decides what it means.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
process.on("message", (message) => {
  const word = wordIn(message);
  if (word?.weir === "job") work(word.job).then(leave, report);
});
say({ weir: "ready" });

async function work(job: Job): Promise<void> {
  const { name, size, settings, seeds, ownSeeds, spellings, folder, division } = job;
  const bus = new ProcessBus(parentPort());
  let agent: Agent | undefined;
  const inbox: Inbox = {
    onParcel: (parcel) => agent?.inbox.onParcel(parcel),
    onReceipt: (receipt) => agent?.inbox.onReceipt(receipt),
    onNote: (from, note) => agent?.inbox.onNote(from, note),
  };
  const member = await bus.join(name, inbox);
  const place = {
    self: name,
    size,
    seeds: ownSeeds,
    division: division === null ? undefined : readDivision(division),
    bus: member,
  };
  using log = new LogPost(job.leastLogged, (entries) => say({ weir: "log", entries }));
  const team = teamMeansFor(settings, place);
  const crawl = await openCrawl({ settings, seeds, spellings, folder, hooks: {}, log, team });
  agent = new Agent({
    clock: systemClock,
    crawl: crawl.handle,
    bus: member,
    log,
    change: (key, value) => void crawl.change(key, value),
  });
  process.on("disconnect", () => crawl.stop("the supervisor is gone"));
  const result = await crawl.done.finally(() => agent.stop());
  say({ weir: "result", result });
  await bus.close();
}

function report(thrown: unknown): void {
  const error = descriptorShortage(thrown) ?? thrown;
  if (error instanceof CrawlError)
    say({ weir: "refused", code: error.code, message: error.message });
  else {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say({ weir: "fault", message });
  }
  leave();
}

/** What was said has gone out before the channel is closed. */
function leave(): void {
  if (process.connected) process.disconnect?.();
}

function say(word: Word): void {
  if (process.connected) process.send?.(word);
}
