import assert from "node:assert/strict";
import { test } from "node:test";
import type { ControlMessage } from "../exchange/bus.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { Coordinator } from "./coordinator.ts";
import type { Licence, Report } from "./messages.ts";

const REPORT = {
  kind: "report",
  hasEnded: false,
  leader: 0,
  term: 0,
  grant: 0,
  epoch: 0,
  wave: 0,
  activity: 0,
  isDone: false,
  unreachable: 0,
  isDry: false,
  isSated: false,
  pages: 0,
  bytes: 0,
  usedBps: 0,
  neededBps: 0,
  isHungry: true,
  wishes: [],
  held: [],
  heldBps: 0,
  given: [],
  waiting: null,
  popular: [],
  popularKnown: 0,
  change: 0,
  requests: [],
  snapshot: null,
} as unknown as Report;

/** Processes that report to a coordinator, each with its last licence. */
class Bench {
  readonly clock = new SimClock();
  readonly licences = new Map<string, Licence>();
  readonly served: [dry: string, waiting: [number, number][]][] = [];
  readonly coordinator: Coordinator;
  done = 0;

  /** With `aloneMs`, the processes may hold grants of an earlier coordinator. */
  constructor(names: readonly string[], limitBps?: number, aloneMs?: number) {
    this.coordinator = new Coordinator({
      clock: this.clock,
      bus: {
        tell: (to: string, message: ControlMessage) => {
          if (message["kind"] === "licence") this.licences.set(to, message as unknown as Licence);
        },
      },
      licenceMs: 3_000,
      ...(aloneMs === undefined ? {} : { aloneMs, inherited: names, term: 9 }),
      division: undefined,
      handOut: (dry, waiting) => {
        this.served.push([dry, [...waiting]]);
        return [[7, 5]];
      },
      onDone: () => {
        this.done += 1;
      },
      limitBps,
      pagesMax: undefined,
    });
    if (aloneMs === undefined) for (const name of names) this.coordinator.members.add(name);
  }

  async pass(ms: number): Promise<void> {
    await this.clock.runUntil(new Promise<void>((resolve) => void this.clock.after(ms, resolve)));
  }

  async report(name: string, change: Partial<Report> = {}): Promise<void> {
    await this.pass(10);
    const { term = 0, grant = 0, wave = 0 } = this.licences.get(name) ?? {};
    const sentAtMs = this.clock.nowMs();
    const report = { ...REPORT, life: name, term, grant, wave, sentAtMs, ...change };
    this.coordinator.onMessage(name, report);
  }
}

test("processes that could use more share the limit equally, and never have more together", async () => {
  const bench = new Bench(["a", "b"], 1_000);
  for (let count = 0; count < 4; count++) {
    await bench.report("a");
    await bench.report("b");
    const [a = 0, b = 0] = ["a", "b"].map((name) => bench.licences.get(name)?.limitBps ?? 0);
    assert.ok(a + b <= 1_000 + 1e-9, `${a} and ${b}`);
  }
  assert.equal(Math.round(bench.licences.get("b")?.limitBps ?? 0), 500);
  bench.coordinator.stop();
});

test("all are done when all were quiet in two waves with nothing in between", async () => {
  const bench = new Bench(["a", "b"]);
  const quiet = { isDone: true, isDry: false };
  for (let wave = 0; wave < 2; wave++)
    for (const name of ["a", "b"]) await bench.report(name, { ...quiet, activity: wave });
  assert.equal(bench.done, 0, "something happened between the waves");
  for (let wave = 0; wave < 3; wave++)
    for (const name of ["a", "b"]) await bench.report(name, { ...quiet, activity: 9 });
  assert.equal(bench.done, 1);
  bench.coordinator.stop();
});

test("a process gets its next part only when all have reported their waiting URLs since its last", async () => {
  const bench = new Bench(["a", "b"]);
  await bench.report("a", { waiting: [[1, 20]] });
  await bench.report("b", { waiting: [], isDry: true });
  assert.deepEqual(bench.served, [["b", [[1, 20]]]]);
  await bench.report("b", { waiting: [], isDry: true });
  assert.equal(bench.served.length, 1, "the other has not reported since");
  await bench.report("a", { waiting: [[1, 12]] });
  await bench.report("b", { waiting: [[7, 5]], isDry: true });
  assert.deepEqual(bench.served.at(-1), [
    "b",
    [
      [1, 12],
      [7, 5],
    ],
  ]);
  bench.coordinator.stop();
});

test("the outcome of a change names the processes that have not confirmed it", async () => {
  const bench = new Bench(["a", "b"]);
  const change = { id: "x", key: "delay", value: "1s", number: 3, message: "1 s" };
  const requests = [{ id: "x", key: "delay", value: "1s" }];
  await bench.report("a", { requests });
  assert.deepEqual(bench.licences.get("a")?.outcomes, []);
  bench.coordinator.setChanges([change]);
  assert.deepEqual(bench.licences.get("a")?.changes, [change]);
  await bench.report("a", { requests, change: 3 });
  const [outcome] = bench.licences.get("a")?.outcomes ?? [];
  assert.deepEqual([outcome?.processes, outcome?.missing, outcome?.missingNames], [2, 1, ["b"]]);
  await bench.report("b", { change: 3 });
  await bench.report("a", { requests, change: 3 });
  assert.equal(bench.licences.get("a")?.outcomes[0]?.missing, 0);
  bench.coordinator.stop();
});

const ALONE_MS = 600_000;

test("a later coordinator raises no rate until every process has reported the rate that it holds", async () => {
  const bench = new Bench(["a", "b", "c"], 900, ALONE_MS);
  const before = { leader: 3, term: 7, grant: 50 };
  await bench.report("a", { ...before, heldBps: 500 });
  assert.equal(bench.licences.get("a")?.limitBps, 500, "the others may have 400 together");
  await bench.report("b", { ...before, heldBps: 100 });
  await bench.report("b", { leader: 9, heldBps: 100 });
  const rateOf = (name: string): number => bench.licences.get(name)?.limitBps ?? 0;
  assert.ok(rateOf("a") + rateOf("b") <= 600 + 1e-9);
  // Within a minute the silent one has fallen to its part; a little later its part is still not free.
  await bench.pass(55_000);
  await bench.report("a", { leader: 9 });
  await bench.report("b", { leader: 9 });
  assert.ok(rateOf("a") + rateOf("b") <= 600 + 1e-9);
  await bench.pass(100_000);
  await bench.report("a", { leader: 9 });
  await bench.report("b", { leader: 9 });
  assert.equal(Math.round(rateOf("a") + rateOf("b")), 600);
  await bench.report("c", { life: "again", term: 0, grant: 0, leader: -1 });
  await bench.report("a", { leader: 9 });
  await bench.report("c", { leader: 9, life: "again" });
  await bench.report("a", { leader: 9 });
  assert.ok(rateOf("a") + rateOf("b") + rateOf("c") <= 900 + 1e-9);
  bench.coordinator.stop();
});

test("a later coordinator grants no turn before it knows all that are held, for 113 s at most", async () => {
  const bench = new Bench(["a", "b"], undefined, ALONE_MS);
  const [held, wanted] = ["address 192.0.2.1", "address 192.0.2.2"].map((key) => {
    return { key, wish: 1, delayMs: 100 };
  });
  assert.ok(held !== undefined && wanted !== undefined);
  const granted = (): string[] => bench.licences.get("a")?.granted.map(({ key }) => key) ?? [];
  await bench.report("a", { leader: 3, term: 7 });
  await bench.report("a", { leader: 9, held: [held], wishes: [wanted] });
  assert.deepEqual(granted(), [held.key]);
  await bench.pass(112_000);
  await bench.report("a", { leader: 9, wishes: [wanted] });
  assert.deepEqual(granted(), []);
  await bench.pass(700);
  await bench.report("a", { leader: 9, wishes: [wanted] });
  assert.deepEqual(granted(), [wanted.key]);
  bench.coordinator.stop();
});

test("turns of a silent process go to others when it has given them up, its rate later", async () => {
  const bench = new Bench(["a", "b"], 1_000, ALONE_MS);
  const turn = { key: "address 192.0.2.1", wish: 1, delayMs: 100 };
  for (const name of ["a", "b"]) await bench.report(name, { term: 0, leader: -1, life: name });
  for (let count = 0; count < 3; count++)
    for (const name of ["a", "b"]) await bench.report(name, { leader: 9, wishes: [turn] });
  assert.equal(bench.licences.get("b")?.granted.length, 0);
  const granted = async (): Promise<number> => {
    await bench.report("b", { leader: 9, wishes: [turn] });
    return bench.licences.get("b")?.granted.length ?? 0;
  };
  await bench.pass(100_000);
  assert.equal(await granted(), 0);
  await bench.pass(16_000);
  assert.equal(await granted(), 1);
  assert.ok((bench.licences.get("b")?.limitBps ?? 0) <= 500 + 1e-9);
  await bench.pass(ALONE_MS);
  await granted();
  await granted();
  assert.equal(bench.licences.get("b")?.limitBps, 1_000);
  bench.coordinator.stop();
});
