import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { LogEntry, LogLevel } from "../../base/log.ts";
import { LogSender } from "./log.ts";

function entry(level: LogLevel, message: string): LogEntry {
  return { level, message, values: {} };
}

test("sends entries that are logged, together and in order", () => {
  const sent: string[][] = [];
  const post = new LogSender("info", (entries) => sent.push(entries.map(({ message }) => message)));
  post.write(entry("debug", "a page"));
  post.write(entry("info", "one"));
  post.write(entry("warn", "two"));
  deepEqual(sent, []);
  post.send();
  post.send();
  deepEqual(sent, [["one", "two"]]);
});

test("sends by itself after a moment, and again", async () => {
  let came: (entries: readonly LogEntry[]) => void = () => undefined;
  const post = new LogSender("debug", (entries) => came(entries));
  for (const message of ["one", "two"]) {
    const { promise, resolve } = Promise.withResolvers<readonly LogEntry[]>();
    came = resolve;
    post.write(entry("debug", message));
    deepEqual(await promise, [entry("debug", message)]);
  }
});

test("sends what is left when it is put away", () => {
  const sent: number[] = [];
  {
    using post = new LogSender("debug", (entries) => sent.push(entries.length));
    post.write(entry("info", "a last word"));
  }
  deepEqual(sent, [1]);
});

test("sends what went wrong at once, with what came before", () => {
  const sent: string[][] = [];
  const post = new LogSender("debug", (entries) =>
    sent.push(entries.map(({ message }) => message)),
  );
  post.write(entry("debug", "before"));
  post.write(entry("error", "broken"));
  deepEqual(sent, [["before", "broken"]]);
});

test("gathers no more than it can hold", () => {
  const sizes: number[] = [];
  const post = new LogSender("debug", (entries) => sizes.push(entries.length));
  for (let line = 0; line < 1_001; line++) post.write(entry("debug", "a page"));
  post.send();
  deepEqual(sizes, [500, 500, 1]);
});
