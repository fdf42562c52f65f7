import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { openStore } from "./store-sqlite.ts";
import { openReadOnly } from "../joined/open-read-only.ts";
import { compare, compareKept, isError, walked } from "../store.suite.ts";

const CHILD = join(import.meta.dirname, "store-sqlite.child.ts");
const KILLS = Number(process.env["WEIR_STORE_KILLS"] ?? 10);

test("kill -9 during commits: the store has the state of a commit, and no reported commit is lost", async (t) => {
  const folder = emptyFolder(t);
  const random = randomFrom(1);
  for (let kill = 1; kill <= KILLS; kill++) {
    const reported = await runAndKill(folder, 1 + below(random, 25));
    const store = openStore(folder, { seenEntriesMax: 200 });
    const committed = store.marks["commit"] ?? 0;
    assert.ok(committed >= reported, `kill ${kill}: ${reported} reported, ${committed} stored`);
    compareKept(store, walked(committed), `kill ${kill}, commit ${committed}`);
    await store.close();
  }
});

test("repeated kill -9 during opening: the store still opens", async (t) => {
  const folder = emptyFolder(t);
  const random = randomFrom(2);
  for (let kill = 1; kill <= KILLS; kill++) {
    const child = spawn(process.execPath, [CHILD, folder], { stdio: "ignore" });
    const isOver = once(child, "exit");
    // Between process start and some commits after opening.
    const killer = setTimeout(() => child.kill("SIGKILL"), 30 + below(random, 120));
    await isOver;
    clearTimeout(killer);
    assert.equal(child.signalCode, "SIGKILL", `kill ${kill}: the child could not open the store`);
  }
  const store = openStore(folder);
  const committed = store.marks["commit"] ?? 0;
  compareKept(store, walked(committed), `commit ${committed}`);
  await store.close();
});

test("log truncated at any byte: the store opens with the state of an earlier commit", async (t) => {
  const folder = emptyFolder(t);
  await runAndKill(folder, 30);
  const random = randomFrom(3);
  const lengths = new Set<number>();
  for (let cut = 1; cut <= 10; cut++) {
    const copy = emptyFolder(t);
    cpSync(folder, copy, { recursive: true });
    const log = join(copy, "state", "crawl.db-wal");
    truncateSync(log, below(random, statSync(log).size));
    const store = openStore(copy, { seenEntriesMax: 200 });
    const committed = store.marks["commit"] ?? 0;
    lengths.add(committed);
    compareKept(store, walked(committed), `cut ${cut}, commit ${committed}`);
    await store.close();
  }
  assert.ok(lengths.size > 3, "the cuts were at different commits");
});

test("a second process is refused, can read concurrently, and can take over after a kill", async (t) => {
  const folder = emptyFolder(t);
  const child = startChild(folder);
  await child.reportedAtLeast(3);
  assert.throws(() => openStore(folder), isError("STORE_LOCKED"));
  const reader = openReadOnly(folder);
  const before = reader.marks["commit"] ?? 0;
  await child.reportedAtLeast(before + 5);
  assert.ok((reader.marks["commit"] ?? 0) > before, "a reader sees new commits");
  const urls = [...reader.urls()].length;
  assert.ok(urls > 0 && [...reader.pages()].length > 0);
  await child.kill();
  const committed = reader.marks["commit"] ?? 0;
  compare(reader, walked(committed), "reading after the kill");
  const store = openStore(folder);
  compareKept(store, walked(committed), "taken over");
  await reader.close();
  await store.close();
  assert.deepEqual(
    readdirSync(join(folder, "state")).filter((file) => file.includes("-wal")),
    [],
  );
});

/** Runs the child for a number of commits, kills it, and returns the last number it reported. */
async function runAndKill(folder: string, commits: number): Promise<number> {
  const child = startChild(folder);
  await child.reportedAtLeast(1);
  await child.reportedAtLeast(child.reported() + commits);
  return child.kill();
}

function startChild(folder: string) {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const isOver = once(child, "exit");
  const lines = createInterface(child.stdout);
  let last = 0;
  let wanted = Infinity;
  let notify: (() => void) | undefined;
  lines.on("line", (line) => {
    if (line !== "open") last = Number(line);
    if (last >= wanted) notify?.();
  });
  return {
    reported: () => last,
    async reportedAtLeast(number: number): Promise<void> {
      if (last >= number) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      wanted = number;
      notify = resolve;
      await Promise.race([promise, isOver.then(() => assert.fail("the child ended by itself"))]);
    },
    async kill(): Promise<number> {
      child.kill("SIGKILL");
      await isOver;
      return last;
    },
  };
}

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-kill-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
