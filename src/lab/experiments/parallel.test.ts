import assert from "node:assert/strict";
import { test } from "node:test";
import type { Experiment, Row } from "./experiment.ts";
import { parallelCrossover } from "./parallel-crossover.ts";
import { parallelExchange } from "./parallel-exchange.ts";
import { parallelFirewall } from "./parallel-firewall.ts";
import { parallelPartition } from "./parallel-partition.ts";
import { parallelQuality } from "./parallel-quality.ts";
import { parallelReplication } from "./parallel-replication.ts";

const SMALL = { seed: 1, runs: 1, pages: 3000, dataFolder: "/nowhere" };

function column(rows: readonly Row[], name: string): number[] {
  return rows.map((row) => row[name]).filter((value) => typeof value === "number");
}

async function rowsOf({ run }: Experiment): Promise<readonly Row[]> {
  const { rows, plots } = await run(SMALL);
  for (const { name, lines } of plots)
    for (const line of lines) assert.ok(line.points.length > 0, `${name}: ${line.name} is empty`);
  return rows;
}

test("in firewall mode, more processes cover less, and more seeds cover more", async () => {
  const rows = await rowsOf(parallelFirewall);
  const byProcs = column(
    rows.filter(({ vary }) => vary === "processes"),
    "coverage",
  );
  assert.ok((byProcs[0] as number) > (byProcs.at(-1) as number));
  const of64 = rows.filter(({ vary, procs }) => vary === "seeds" && procs === 64);
  const bySeeds = column(of64, "coverage");
  assert.deepEqual(bySeeds, bySeeds.toSorted());
});

test("in cross-over mode, overlap grows with the number of processes up to 16", async () => {
  const rows = await rowsOf(parallelCrossover);
  const at = column(rows.slice(0, 4), "at 0.8");
  assert.deepEqual(
    at,
    at.toSorted((a, b) => a - b),
  );
});

test("exchange mode fetches every page once, and by site sends at most one URL per page", async () => {
  const rows = await rowsOf(parallelExchange);
  assert.deepEqual(new Set(column(rows, "overlap")), new Set([0]));
  assert.equal(new Set(column(rows, "coverage")).size, 1);
  const bySite = rows.filter(({ partition }) => partition === "site-hash");
  assert.ok(column(bySite, "atOnce").every((urls) => urls > 0 && urls <= 1));
});

test("more replicated URLs reduce the URLs sent", async () => {
  const sent = column(await rowsOf(parallelReplication), "atOnce");
  assert.deepEqual(
    sent,
    sent.toSorted((a, b) => b - a),
  );
});

test("exchanging link counts improves quality with many processes", async () => {
  const rows = await rowsOf(parallelQuality);
  const found = rows.filter((row) => row["counted"] === "between sites" && row["procs"] === 16);
  for (const row of found) assert.ok(Number(row["127 exchanges"]) > Number(row["0 exchanges"]));
});

test("partition by URL is more even, partition by site has fewer links between processes", async () => {
  const rows = await rowsOf(parallelPartition);
  const of = (kind: string, name: string): number[] =>
    column(
      rows.filter(({ partition }) => partition === kind),
      name,
    );
  for (const [place, share] of of("site-hash", "linksAbroad").entries()) {
    assert.ok(share < (of("url-hash", "linksAbroad")[place] as number) / 2);
    assert.ok(
      (of("site-hash", "largest")[place] as number) > (of("url-hash", "largest")[place] as number),
    );
  }
});

test("the same seed gives the same findings, another seed different ones", async () => {
  const first = await parallelFirewall.run(SMALL);
  assert.deepEqual(await parallelFirewall.run(SMALL), first);
  assert.notDeepEqual(await parallelFirewall.run({ ...SMALL, seed: 2 }), first);
});
