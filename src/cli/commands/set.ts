/**
 * `weir set DIR KEY VALUE`: changes a crawl while it runs.
 *
 * The wish is a file in the crawl's mailbox, `control/<id>.json`; the crawl answers beside it. The
 * value is read here first, with the setting's own reader, so that a typing error costs no wait.
 */

import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sleep, systemClock } from "../../base/clock.ts";
import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import { CHANGEABLE, isChangeable, unchangeable } from "../../config/changeable.ts";
import { expectationOf, type Field, type FieldTable } from "../../config/field.ts";
import { onOff } from "../../config/readers.ts";
import { readOne } from "../../config/resolve.ts";
import { readArgs } from "../args.ts";
import { runningSnapshot, storedSnapshot } from "../crawl-folder.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { commandHelp, wrapped } from "../help.ts";
import type { Command } from "../run.ts";

const ANSWER_MS_MAX = 2000;
const LOOK_EVERY_MS = 20;

const FLAGS = {
  json: { key: "json", meaning: "Print one JSON object.", fallback: "false", reader: onOff },
} as const satisfies FieldTable;

interface Reply {
  readonly ok: boolean;
  readonly message: string;
}

export const command: Command = { help, run };

function help(): string {
  const keys = Object.entries<Field<unknown>>(CHANGEABLE).flatMap(([key, field]) =>
    wrapped(expectationOf(field), 80).map(
      (line, index) => `  ${(index === 0 ? key : "").padEnd(14)}${line}`,
    ),
  );
  return commandHelp({
    usage: "weir set DIR KEY VALUE",
    about: "Changes the crawl that runs in DIR, at once and until it ends.",
    examples: [
      ["weir set weir-data/example.org limit 500KB/s", "within a second, all sites together"],
      ["weir set weir-data/example.org limit none", "as fast as the sites give"],
      [
        "weir set weir-data/example.org limit-at 'mon-fri 08:00-18:00=1MB/s,else=8MB/s'",
        "by the time of the week",
      ],
      ["weir set weir-data/example.org quota 5GB/day", "no more than that today"],
      ["weir set weir-data/example.org pause true", "nothing new is asked for"],
      ["weir set weir-data/example.org pause false", "on again"],
      ["weir set weir-data/example.org delay 3s", "slower, at every site"],
    ],
    groups: { Flags: FLAGS },
  }).concat(`\nKeys and values:\n${keys.join("\n")}\n`);
}

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR", "KEY", "VALUE"], FLAGS);
  const [folder = "", key = "", value = ""] = positional;
  checkWish(key, value);
  if (runningSnapshot(folder) === undefined) {
    // Says so when this is no crawl at all.
    await storedSnapshot(folder);
    throw new CrawlError("NOT_RUNNING", `No crawl runs in ${visible(folder, 200)}.`);
  }
  const reply = await ask(folder, { key, value });
  if (reply === undefined)
    throw new CrawlError("NOT_RUNNING", `The crawl in ${visible(folder, 200)} does not answer.`);
  if (!reply.ok) throw new CrawlError("USAGE", reply.message);
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

async function ask(
  folder: string,
  wish: { readonly key: string; readonly value: string },
): Promise<Reply | undefined> {
  const letter = join(folder, "control", `${randomUUID()}.json`);
  const answer = letter.replace(/\.json$/, ".reply.json");
  try {
    writeFileSync(`${letter}.part`, JSON.stringify(wish));
    renameSync(`${letter}.part`, letter);
  } catch (error) {
    throw new CrawlError("NOT_RUNNING", `${visible(folder, 200)} takes no wishes.`, {
      cause: error,
    });
  }
  const untilMs = systemClock.nowMs() + ANSWER_MS_MAX;
  while (systemClock.nowMs() < untilMs) {
    const reply = readReply(answer);
    if (reply !== undefined) return reply;
    await sleep(systemClock, LOOK_EVERY_MS);
  }
  rmSync(letter, { force: true });
  return undefined;
}

function readReply(file: string): Reply | undefined {
  try {
    const reply = JSON.parse(readFileSync(file, "utf8")) as Reply;
    rmSync(file, { force: true });
    return reply;
  } catch {
    return undefined;
  }
}
