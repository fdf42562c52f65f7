/**
 * Starts a crawl in a cluster: connects to NATS, announces what is to be crawled, and opens the first node, which shows
 * the whole.
 */

import type { Log } from "../../base/log.ts";
import type { Settings } from "../../config/schema.ts";
import type { CrawlOrder, OpenCrawl } from "../../crawl/open.ts";
import type { Bus } from "../../exchange/bus.ts";
import type { Registry } from "../../exchange/registry.ts";
import { hasStore } from "../../store/folder.ts";
import { checkWhole } from "../check-whole.ts";
import { natsOptionsOf, openNode } from "./node.ts";
import { checkNodeFolder, clearFor } from "../team-folder.ts";
import { announceSpec, forgetSpec, specOf } from "./spec.ts";

interface MeetingPlace {
  readonly bus: Bus;
  readonly registry: Registry;
}

type Begun = CrawlOrder & { readonly folder: string };

/** Loads the client library on demand. */
export async function meet(settings: Settings, log: Log): Promise<MeetingPlace> {
  const options = natsOptionsOf(settings, log);
  const { openJetStreamBus } = await import("../../exchange/nats/bus-jetstream.ts");
  const { openJetStreamRegistry } = await import("../../exchange/nats/registry-jetstream.ts");
  const bus = await openJetStreamBus(options);
  try {
    return { bus, registry: await openJetStreamRegistry(options) };
  } catch (error) {
    await bus.close();
    throw error;
  }
}

export async function beginCluster(order: Begun): Promise<OpenCrawl> {
  const { settings, seeds, folder, log } = order;
  if (settings.fresh) clearFor(folder, []);
  else checkNodeFolder(folder, settings.crawlName);
  // Of a resumed crawl each node knows only its own part.
  if (settings.fresh || !hasStore(folder)) checkWhole(order);
  const { bus, registry } = await meet(settings, log);
  const spec = specOf(settings, seeds, order.spellings);
  const announce = (): Promise<boolean> => announceSpec(registry, settings.crawlName, spec);
  let isBeginning = false;
  try {
    if (settings.fresh) await forgetSpec(registry);
    // After a loss of the table the crawl continues, with every node that has a store of it.
    isBeginning = (await announce()) && !hasStore(folder);
  } catch (error) {
    await bus.close();
    await registry.close();
    throw error;
  }
  const node = await openNode({ spec, folder, log, bus, registry, announce, isBeginning });
  return {
    done: node.done,
    snapshot: () => node.snapshot(),
    stop: (why) => node.stopAll(why),
    change: (key, value) => node.change(key, value),
  };
}
