import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./program.ts";

interface LabResult {
  readonly experiment: string;
  readonly paper: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly files: readonly string[];
}

test("the lab lists its experiments, for people and for programs", async () => {
  const list = await run(["lab", "list"]);
  assert.equal(list.code, 0, list.stderr);
  const { experiments } = JSON.parse((await run(["lab", "list", "--json"])).stdout) as {
    experiments: { name: string; paper: string }[];
  };
  const names = new Set(experiments.map(({ name }) => name));
  for (const name of ["bandwidth-prediction", "bandwidth-depth", "bandwidth-control"]) {
    assert.ok(names.has(name), name);
    assert.match(list.stdout, new RegExp(`^${name}$`, "m"));
  }
});

test("an experiment gives its rows, its pictures, and the same again for the same seed", async () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "lab");
  const words = ["lab", "run", "bandwidth-prediction", "--out", out, "--runs", "1", "--json"];
  const first = await run([...words, "--seed", "2"]);
  assert.equal(first.code, 0, first.stderr);
  const result = JSON.parse(first.stdout) as LabResult;
  assert.equal(result.experiment, "bandwidth-prediction");
  assert.match(result.paper, /Diligenti/);
  assert.equal(result.parameters["limitBps"], 140_000);
  assert.equal(result.rows.length, 1);
  for (const file of result.files) assert.ok(existsSync(file), file);
  const picture = result.files.find((file) => file.endsWith(".svg")) ?? "";
  assert.match(readFileSync(picture, "utf8"), /^<svg/);
  assert.equal((await run([...words, "--seed", "2"])).stdout, first.stdout);
  assert.notEqual((await run([...words, "--seed", "3"])).stdout, first.stdout);
});

test("what the lab does not know is answered with what it does", async () => {
  const misspelt = await run(["lab", "run", "bandwidth-controll"]);
  assert.equal(misspelt.code, 2);
  assert.match(misspelt.stderr, /did you mean bandwidth-control\?/);
  assert.match((await run(["lab", "runs"])).stderr, /did you mean run\?/);
  const nothing = await run(["lab"]);
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /weir lab list/);
});
