import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { CrawlError } from "../base/errors.ts";
import type { Snapshot } from "./snapshot.ts";
import { askCrawl, Control } from "./status-file.ts";

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-control-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Only its writing is tested here, so one field is enough. */
function snapshotIn(state: Snapshot["state"]): Snapshot {
  return { state } as Snapshot;
}

test("a change reaches the crawl, and its answer the program that asked", async (t) => {
  const folder = folderFor(t);
  const changes: string[] = [];
  const change = (key: string, value: string): string => {
    changes.push(`${key}=${value}`);
    if (key === "delay") throw new CrawlError("USAGE", "no such delay");
    return "limit is 2 MB/s";
  };
  const control = new Control({ folder, snapshot: () => snapshotIn("running"), change });
  t.after(() => control[Symbol.dispose]());
  assert.deepEqual(await askCrawl(folder, { key: "limit", value: "2MB/s" }), {
    ok: true,
    message: "limit is 2 MB/s",
  });
  assert.deepEqual(await askCrawl(folder, { key: "delay", value: "x" }), {
    ok: false,
    code: "USAGE",
    message: "no such delay",
  });
  assert.deepEqual(changes, ["limit=2MB/s", "delay=x"]);
});

test("the status is there from the start, and at the end the last one without a mailbox", (t) => {
  const folder = folderFor(t);
  let state: Snapshot["state"] = "running";
  const control = new Control({ folder, snapshot: () => snapshotIn(state), change: () => "" });
  const read = (): unknown => JSON.parse(readFileSync(join(folder, "status.json"), "utf8"));
  assert.deepEqual(read(), { state: "running" });
  state = "done";
  control[Symbol.dispose]();
  assert.deepEqual(read(), { state: "done" });
  assert.equal(existsSync(join(folder, "control")), false);
});

test("a request that waited for an earlier run is not applied to this one", async (t) => {
  const folder = folderFor(t);
  // A killed run leaves its mailbox.
  mkdirSync(join(folder, "control"));
  writeFileSync(join(folder, "control", "old.json"), '{"key":"stop","value":"now"}');
  const changes: string[] = [];
  const control = new Control({
    folder,
    snapshot: () => snapshotIn("running"),
    change: (key) => changes.push(key).toString(),
  });
  t.after(() => control[Symbol.dispose]());
  await askCrawl(folder, { key: "limit", value: "none" });
  assert.deepEqual(changes, ["limit"]);
});

test("a folder without a running crawl accepts no change", async (t) => {
  await assert.rejects(
    askCrawl(folderFor(t), { key: "stop", value: "now" }),
    (error) => error instanceof CrawlError && error.code === "NOT_RUNNING",
  );
});

test("junk in the mailbox is answered with an error", async (t) => {
  const folder = folderFor(t);
  const control = new Control({ folder, snapshot: () => snapshotIn("running"), change: () => "" });
  t.after(() => control[Symbol.dispose]());
  writeFileSync(join(folder, "control", "junk.json"), "no JSON");
  const reply = join(folder, "control", "junk.reply.json");
  // A later request is answered after the earlier one.
  await askCrawl(folder, { key: "limit", value: "none" });
  while (!existsSync(reply)) await new Promise((resolve) => setImmediate(resolve));
  const { ok, code } = JSON.parse(readFileSync(reply, "utf8")) as { ok: boolean; code: string };
  assert.deepEqual([ok, code], [false, "USAGE"]);
});
