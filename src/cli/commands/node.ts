/** `weir node`: joins a cluster as one of its crawling processes. */

import { CrawlError } from "../../base/errors.ts";
import { meet } from "../../cluster/nats/begin.ts";
import { openNode } from "../../cluster/nats/node.ts";
import { readSpec, type Spec } from "../../cluster/nats/spec.ts";
import { checkNodeFolder, clearFor } from "../../cluster/team-folder.ts";
import { CLUSTER } from "../../config/cluster.ts";
import type { Settings } from "../../config/schema.ts";
import { gatherSettings } from "../../config/sources.ts";
import type { Registry } from "../../exchange/registry.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { onInterrupt } from "../interrupts.ts";
import { Screen } from "../screen.ts";
import { summaryOf } from "../summary.ts";
import { paletteFor } from "../terminal.ts";

const LOOK_EVERY_MS = 1_000;

export const command: Command = {
  run,
  page: {
    usage: "weir node --nats URL --crawl NAME [--out DIR] [flags]",
    about:
      "Joins a cluster as one more crawling process, on this machine or another. Seeds and settings come from the `weir crawl --nats` that started the crawl; a node that joins earlier waits for it. Ctrl-C hands the node's part over to the others; Ctrl-C again quits at once, and the same command resumes from its folder.",
    examples: [
      ["weir node --nats nats://10.0.0.1:4222 --crawl news", "one more process"],
      [
        "weir node --nats nats://10.0.0.1:4222 --crawl news --out /data/news",
        "with its own folder",
      ],
      [
        "weir crawl --seeds sites.txt --nats nats://10.0.0.1:4222 --crawl news",
        "how the crawl is started",
      ],
    ],
    groups: { Cluster: CLUSTER },
    ending:
      "Flags that apply to this machine: --out, --memory, --connections, --allow-private, --proxy, --dashboard, --log-file, --json, --quiet. See docs/cluster.md.",
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const { settings } = await gatherSettings(words, process.env);
  if (settings.natsServers.length === 0)
    throw new CrawlError("USAGE", "weir node needs --nats URL, the NATS server of the cluster");
  const stream = settings.json ? process.stderr : process.stdout;
  const screen = new Screen(stream, settings);
  const folder = settings.outFolder ?? `weir-data/${folderNameOf(settings.crawlName)}-node`;
  if (settings.fresh) clearFor(folder, []);
  else checkNodeFolder(folder, settings.crawlName);
  const { bus, registry } = await meet(settings, screen.log);
  // An open connection would keep a refused node from ending.
  const spec = await specWhenThere(registry, settings, screen).catch(async (error: unknown) => {
    await bus.close();
    await registry.close();
    throw error;
  });
  const node = await openNode({
    spec,
    folder,
    log: screen.log,
    bus,
    registry,
    announce: undefined,
    isBeginning: false,
  });
  screen.say(`Node ${node.name} has joined.`);
  screen.show(() => node.snapshot());
  using _ = onInterrupt(() => {
    screen.say("Leaving: the others take over. Ctrl-C again to quit at once.");
    node.leave();
  });
  const result = await node.done.finally(() => screen.close());
  if (settings.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else if (!settings.quiet)
    for (const line of summaryOf(result, node.snapshot(), folder, paletteFor(stream, process.env)))
      stream.write(`${line}\n`);
  return result.complete ? EXIT.done : EXIT.stopped;
}

async function specWhenThere(
  registry: Registry,
  settings: Settings,
  screen: Screen,
): Promise<Spec> {
  for (let looks = 0; ; looks++) {
    const spec = await readSpec(registry, settings);
    if (spec !== undefined) return spec;
    if (looks === 0) screen.say(`Waiting for the start of crawl ${settings.crawlName}…`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function folderNameOf(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "") || "crawl";
}
