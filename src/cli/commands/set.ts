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
import type { FieldTable } from "../../config/field.ts";
import { suggestion } from "../../config/nearest.ts";
import { onOff } from "../../config/readers.ts";
import { SETTINGS } from "../../config/schema.ts";
import { readArgs } from "../args.ts";
import { runningSnapshot, storedSnapshot } from "../crawl-folder.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { commandHelp } from "../help.ts";
import type { Command } from "../run.ts";

const ANSWER_MS_MAX = 2000;
const LOOK_EVERY_MS = 20;

const FLAGS = {
  json: { key: "json", meaning: "Print one JSON object.", fallback: "false", reader: onOff },
} as const satisfies FieldTable;

/** What may change while a crawl runs. */
const CHANGEABLE: FieldTable = {
  pause: {
    key: "pause",
    meaning: "Whether to wait with everything new.",
    fallback: undefined,
    reader: onOff,
  },
  connections: SETTINGS.connectionsMax,
  delay: SETTINGS.delayMs,
  pages: SETTINGS.pagesMax,
};

interface Reply {
  readonly ok: boolean;
  readonly message: string;
}

export const command: Command = { help, run };

function help(): string {
  const keys = Object.values(CHANGEABLE).map(
    (field) => `  ${field.key.padEnd(14)}${field.reader.expects}`,
  );
  return commandHelp({
    usage: "weir set DIR KEY VALUE",
    about: "Changes the crawl that runs in DIR, at once and until it ends.",
    examples: [
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
  const field = Object.hasOwn(CHANGEABLE, key) ? CHANGEABLE[key] : undefined;
  const keys = Object.keys(CHANGEABLE);
  if (field === undefined)
    throw new CrawlError(
      "USAGE",
      `${visible(key, 80)} cannot be changed${suggestion(key, keys) || `; one of ${keys.join(", ")} can`}`,
    );
  if (field.reader.read(value) === undefined)
    throw new CrawlError(
      "USAGE",
      `${key} ${JSON.stringify(visible(value, 80))}: expects ${field.reader.expects}`,
    );
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
