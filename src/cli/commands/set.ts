/**
 * `weir set DIR KEY VALUE`: changes a crawl while it runs.
 *
 * The request is a file in the crawl's mailbox, `control/<id>.json`; the crawl answers beside it.
 * The value is first read here, with the setting's own reader, so that a typing error is reported
 * at once.
 */

import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import { CHANGEABLE, isChangeable, unchangeable } from "../../config/changeable.ts";
import { expectationOf, type Field, type FieldTable } from "../../config/field.ts";
import { readOne } from "../../config/resolve.ts";
import { askCrawl } from "../../control/status-file.ts";
import { JSON_FLAG, readArgs } from "../args.ts";
import { refuseSeveral } from "../crawl-list.ts";
import { runningSnapshot, storedSnapshot } from "../../results/crawl-folder.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";

const FLAGS = {
  ...JSON_FLAG,
} as const satisfies FieldTable;

export const command: Command = {
  run,
  page: {
    usage: "weir set DIR KEY VALUE",
    about:
      "Changes a setting of the running crawl in DIR, within one second and until it ends. In a cluster, DIR is " +
      "the folder of any node: the change holds for all nodes, and fails if one has not confirmed it within 10 s.",
    examples: [
      ["weir set weir-data/example.org limit 500KB/s", "limit of the whole crawl"],
      ["weir set weir-data/example.org limit none", "no limit"],
      [
        "weir set weir-data/example.org limit-at 'mon-fri 08:00-18:00=1MB/s,else=8MB/s'",
        "limit by time of the week",
      ],
      ["weir set weir-data/example.org quota 5GB/day", "quota per day"],
      ["weir set weir-data/example.org pause true", "no new requests"],
      ["weir set weir-data/example.org pause false", "continue"],
      ["weir set weir-data/example.org delay 3s", "delay between requests to each site"],
    ],
    groups: { Flags: FLAGS },
    keys: Object.entries<Field<unknown>>(CHANGEABLE).map(([key, field]) => [
      key,
      expectationOf(field),
    ]),
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR", "KEY", "VALUE"], FLAGS);
  const [folder = "", key = "", value = ""] = positional;
  await refuseSeveral(folder, "weir set");
  checkWish(key, value);
  if (runningSnapshot(folder) === undefined) {
    // Throws when the folder holds no crawl.
    await storedSnapshot(folder);
    throw new CrawlError("NOT_RUNNING", `No crawl runs in ${visible(folder, 200)}.`);
  }
  const reply = await askCrawl(folder, { key, value });
  if (!reply.ok) throw new CrawlError(reply.code ?? "USAGE", reply.message);
  process.stdout.write(
    flags.json
      ? `${JSON.stringify({ key, value, message: reply.message })}\n`
      : `${visible(reply.message, 500)}\n`,
  );
  return EXIT.done;
}

function checkWish(key: string, value: string): void {
  if (!isChangeable(key)) throw new CrawlError("USAGE", unchangeable(key));
  const field: Field<unknown> = CHANGEABLE[key];
  const { mistakes } = readOne(key, field, value);
  if (mistakes.length > 0) throw new CrawlError("USAGE", mistakes.join("\n  "));
}
