/**
 * One crawling process under a supervisor: receives its job, crawls, and sends the result.
 *
 * Started only by `spawn.ts`. It ends in good order when its supervisor does: stored data stays valid, and the same
 * command resumes.
 */

import { systemClock } from "../../base/clock.ts";
import { descriptorShortage } from "../../base/descriptors.ts";
import { CrawlError } from "../../base/errors.ts";
import { openCrawl } from "../../crawl/open.ts";
import { ProcessBus } from "../../exchange/local/bus-process.ts";
import type { Inbox } from "../../exchange/bus.ts";
import { parentPort } from "../../exchange/local/port.ts";
import { Worker } from "../worker.ts";
import { type Job, type ChannelMessage, channelMessageIn } from "./channel.ts";
import { readDivision } from "../division-codec.ts";
import { LogSender } from "./log.ts";
import { teamMeansFor } from "../team-setup.ts";

// Ctrl-C reaches every process of a terminal; only the supervisor acts on it.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
process.on("message", (message) => {
  const word = channelMessageIn(message);
  if (word?.weir === "job") work(word.job).then(leave, report);
});
say({ weir: "ready" });

async function work(job: Job): Promise<void> {
  const { name, size, settings, seeds, ownSeeds, spellings, folder, division } = job;
  const bus = new ProcessBus(parentPort());
  let worker: Worker | undefined;
  const inbox: Inbox = {
    onParcel: (parcel) => worker?.inbox.onParcel(parcel),
    onReceipt: (receipt) => worker?.inbox.onReceipt(receipt),
    onMessage: (from, control) => worker?.inbox.onMessage(from, control),
  };
  const member = await bus.join(name, inbox);
  const place = {
    self: name,
    size,
    seeds: ownSeeds,
    division: division === null ? undefined : readDivision(division),
    bus: member,
  };
  using log = new LogSender(job.leastLogged, (entries) => say({ weir: "log", entries }));
  const team = teamMeansFor(settings, place);
  const crawl = await openCrawl({ settings, seeds, spellings, folder, hooks: {}, log, team });
  worker = new Worker({
    clock: systemClock,
    crawl: crawl.handle,
    bus: member,
    log,
    change: (key, value) => void crawl.change(key, value),
  });
  process.on("disconnect", () => crawl.stop("the supervisor is gone"));
  const result = await crawl.done.finally(() => worker.stop());
  // Its last report leaves in this turn of the event loop.
  await new Promise(setImmediate);
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

/** Messages sent before have left when the channel closes. */
function leave(): void {
  if (process.connected) process.disconnect?.();
}

function say(word: ChannelMessage): void {
  if (process.connected) process.send?.(word);
}
