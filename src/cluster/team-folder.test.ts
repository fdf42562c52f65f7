import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { defaultSettings } from "../config/sources.ts";
import { emptyDivision } from "./ownership.ts";
import {
  checkLoneFolder,
  checkNodeFolder,
  keepDivision,
  keepNodeName,
  openTeamFolder,
  readKeptDivision,
} from "./team-folder.ts";

function temporaryFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "weir-team-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

test("a node keeps its name as long as its folder, which belongs to one crawl", () => {
  using folder = temporaryFolder();
  assert.equal(keepNodeName(folder.path, "news", "one"), "one");
  assert.equal(keepNodeName(folder.path, "news", "two"), "one");
  checkNodeFolder(folder.path, "news");
  assert.throws(() => checkNodeFolder(folder.path, "sport"), /of the crawl "news"/);
  assert.throws(() => checkLoneFolder(folder.path), /as a node of the cluster's crawl "news"/);
});

test("a folder of several processes is resumed by as many, and by no others", () => {
  using folder = temporaryFolder();
  const settings = { ...defaultSettings(), procs: 2 };
  assert.equal(openTeamFolder(folder.path, settings, ["a", "b"]).isResumed, false);
  assert.equal(openTeamFolder(folder.path, settings, ["a", "b"]).isResumed, true);
  assert.throws(() => openTeamFolder(folder.path, settings, ["a", "b", "c"]), /procs|processes/);
  assert.throws(() => checkLoneFolder(folder.path), /--procs 2/);
});

test("the last division is kept, and one of other processes is none", () => {
  using folder = temporaryFolder();
  openTeamFolder(folder.path, defaultSettings(), ["a", "b"]);
  assert.equal(readKeptDivision(folder.path, ["a", "b"]), undefined);
  const division = { ...emptyDivision({ bucketCount: 4 }), epoch: 2, owners: ["a", "b", "", "a"] };
  keepDivision(folder.path, division);
  assert.deepEqual(readKeptDivision(folder.path, ["a", "b"]), division);
  assert.equal(readKeptDivision(folder.path, ["a"]), undefined);
});
