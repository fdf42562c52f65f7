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

  constructor(names: readonly string[], limitBps?: number) {
    this.coordinator = new Coordinator({
      clock: this.clock,
      bus: {
        tell: (to: string, message: ControlMessage) => {
          if (message["kind"] === "licence") this.licences.set(to, message as unknown as Licence);
        },
      },
      licenceMs: 3_000,
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
    for (const name of names) this.coordinator.members.add(name);
  }

  async report(name: string, change: Partial<Report> = {}): Promise<void> {
    const passed = new Promise<void>((resolve) => void this.clock.after(10, resolve));
    await this.clock.runUntil(passed);
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
