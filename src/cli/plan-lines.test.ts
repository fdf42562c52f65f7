import assert from "node:assert/strict";
import { test } from "node:test";
import { siteOf } from "../url/site.ts";
import { answerOf, type PlanAnswer } from "./plan-answer.ts";
import { planLines } from "./plan-lines.ts";
import { planResult, type PlanReport } from "./plan-result.ts";
import type { PlanInput, PlannedSite } from "./plan-task.ts";
import { paletteFor } from "./terminal.ts";

const SCREEN = { columns: 120, rows: 40, palette: paletteFor({ isTTY: false }, {}) };

const FACTS = { hasSize: true, hasServer: true, serverLeastBps: 50_000, isTooMany: false };

interface Sketch {
  readonly bytes: number | undefined;
  readonly deadlineSeconds?: number;
  readonly capBps?: number;
  readonly scatter?: { readonly mean: number; readonly most: number };
  readonly changes?: Partial<PlannedSite>;
}

function siteFrom(sketch: Sketch, index: number): PlannedSite {
  const { bytes, deadlineSeconds, capBps = Infinity, scatter, changes } = sketch;
  return {
    wish: {
      site: siteOf(`https://s${index}.example/`),
      deadlineSeconds,
      sizeBytes: bytes,
      pagesExpected: undefined,
      capBps: undefined,
      limitBps: undefined,
      weight: 1,
      efficiency: 1,
      concurrency: 1,
      delayMs: undefined,
    },
    bytes,
    sizeFrom: undefined,
    pages: undefined,
    pagesFrom: undefined,
    typicalBytes: undefined,
    slots: { seconds: 0, by: "delay", address: "", turn: undefined },
    ...changes,
    capBps,
    capFrom: changes?.capFrom,
    evidence: FACTS,
    server: { bps: capBps, strayed: scatter, permittedBps: Infinity },
    leftOut: bytes === undefined ? "its size is not known; give it a `size`" : undefined,
  };
}

async function reportOf(
  sketches: readonly Sketch[],
  changes: Partial<PlanInput> = {},
  algorithm: PlanAnswer["algorithm"] = "optimal",
): Promise<PlanReport> {
  const sites = sketches.map(siteFrom);
  const planned = sites.filter(({ leftOut }) => leftOut === undefined);
  const task = {
    sites: planned.map(({ wish, bytes = 0, capBps }) => ({
      key: wish.site,
      bytes,
      capBps,
      weight: 1,
      deadlineSeconds: wish.deadlineSeconds,
    })),
    rateBps: 1e6,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
  };
  const answer = await answerOf({
    task,
    reserve: undefined,
    servers: planned.map(({ server }) => server),
    evidence: { sites: planned.map(({ evidence }) => evidence), isLineMeasured: true },
    algorithm,
    objective: "min-sum",
  });
  const rate = { rateFrom: "limit", rateUntilSeconds: undefined, isLineMeasured: true } as const;
  const input = { sites, task, ...rate };
  return { input: { ...input, timeMaxSeconds: undefined, ...changes }, answer };
}

async function textOf(...rest: Parameters<typeof reportOf>): Promise<string> {
  return planLines(await reportOf(...rest), SCREEN).join("\n");
}

test("a plan that keeps everything says so, and the least rate that would", async () => {
  const text = await textOf([{ bytes: 10e6, deadlineSeconds: 20 }, { bytes: 30e6 }]);
  assert.match(text, /^site +kept +done after +deadline +to spare +size +rate now +cap\n/);
  assert.match(text, /s0\.example +✓ +10 s +20 s +10 s +10\.0 MB +1\.00 MB\/s/);
  assert.match(text, /s1\.example +40 s +30\.0 MB +waits/);
  assert.match(text, /The deadline can be kept at 1\.00 MB\/s\./);
  assert.match(text, /The least sufficient rate is 500 KB\/s\./);
  assert.match(
    text,
    /All is done after 40 s; the finish times add up to 50 s, at most 0\.0 % above/,
  );
});

test("deadlines that want more than there is are told by how much, and what would do", async () => {
  const text = await textOf([
    { bytes: 10e6, deadlineSeconds: 10 },
    { bytes: 10e6, deadlineSeconds: 15 },
  ]);
  assert.match(text, /1 of 2 deadlines cannot be kept at 1\.00 MB\/s:/);
  assert.match(text, /\n {2}https:\/\/s\d\.example is done [\d.]+ s too late, after 20 s\./);
  assert.match(text, /The least sufficient rate is 1\.33 MB\/s\./);
  assert.match(text, /Or move one deadline: https:\/\/s\d\.example to 20 s\./);
});

test("an algorithm without an answer says why, and that ours has one", async () => {
  const sites = [
    { bytes: 10e6, deadlineSeconds: 10 },
    { bytes: 10e6, deadlineSeconds: 20 },
  ];
  const text = await textOf(sites, {}, "m-maxt");
  assert.match(
    text,
    /^m-maxt has no plan: [^]*\nWith --algorithm optimal every deadline can be kept/,
  );
  const batches = await textOf(sites, {}, "cpq");
  assert.match(batches, /by cpq; --algorithm optimal keeps them all:/);
});

test("what a plan rests on is told where it can surprise", async () => {
  const one = [{ bytes: 50e6, capBps: 500_000 }];
  assert.match(
    await textOf(one, { rateFrom: "caps" }),
    /No limit is set: 1\.00 MB\/s is the total/,
  );
  assert.match(await textOf(one, { rateUntilSeconds: 60 }), /The calendar may change in 1 min 0 s/);
  assert.match(await textOf(one, { timeMaxSeconds: 30 }), /stops after 30 s \(--time\)/);
  assert.match(await textOf(one, {}, "m-sumt"), /m-sumt ignores caps: .* more from 1 site than/);
  assert.match(await textOf(one), /No site has a deadline\./);
  assert.match(
    await textOf([...one, { bytes: undefined }]),
    /1 site is not in the plan:\n {2}https/,
  );
});

test("a site whose server scatters has a band about its end, in the table and for programs", async () => {
  const report = await reportOf([
    { bytes: 50e6, capBps: 500_000, scatter: { mean: 0.3, most: 1 } },
  ]);
  assert.match(planLines(report, SCREEN).join("\n"), /5–95 % [\s\S]*1 min 40 s +\S+ s – \d+ min/);
  const { sites } = planResult(report) as { sites: { finishP5Seconds: number }[] };
  assert.ok((sites[0]?.finishP5Seconds ?? 0) < 100);
});

test("of a thousand sites some are shown, and no line is wider than the screen", async () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ bytes: 1e6 + index }));
  const report = await reportOf(many);
  for (const columns of [40, 80, 200]) {
    const lines = planLines(report, { ...SCREEN, columns });
    assert.ok(lines.length < 100);
    assert.match(lines.join("\n"), /and 960 sites more; --json/);
    for (const line of lines) assert.ok(line.length <= columns, `${columns}: ${line}`);
  }
});

test("a narrow screen leaves out whole columns of the table", async () => {
  const report = await reportOf([{ bytes: 50e6, deadlineSeconds: 3600 }]);
  const endings = { spare: /\d+ (s|min)$/, size: /50\.0 MB$/, "rate now": /\/s$/, cap: /\/s$/ };
  for (let columns = 56; columns < 120; columns++) {
    const [head = "", first = ""] = planLines(report, { ...SCREEN, columns });
    const last = Object.entries(endings).find(([name]) => head.endsWith(name));
    assert.ok(last !== undefined && last[1].test(first), `${columns}:\n${head}\n${first}`);
  }
});

test("sizes and pages that were counted with the typical page are marked, and the cause of a delay is named", async () => {
  const polite = {
    pages: 40,
    capFrom: "delay",
    slots: { seconds: 42, by: "delay", address: "", turn: undefined },
  } as const;
  const typical = { pages: 10, pagesFrom: "typical", typicalBytes: 30_000 } as const;
  const report = await reportOf([
    { bytes: 400_000, capBps: 400_000 / 42, deadlineSeconds: 20, changes: polite },
    { bytes: 300_000, changes: { ...typical, slots: { ...polite.slots, seconds: 12 } } },
  ]);
  const text = planLines(report, SCREEN).join("\n");
  assert.match(text, /s0\.example .* 400 KB +40 /);
  assert.match(text, /s1\.example .* 300 KB +≈ 10 /);
  assert.match(
    text,
    /40 pages, robots\.txt and sitemap at its delay take 42 s, its deadline is 20 s/,
  );
  assert.match(
    text,
    /≈: counted with pages of 30\.0 KB, the typical size; give `size` and `pages` of 1 site/,
  );
});
