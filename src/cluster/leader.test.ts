import assert from "node:assert/strict";
import { test } from "node:test";
import { type LogEntry } from "../base/log.ts";
import { randomFrom } from "../base/random.ts";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import type { Membership } from "../exchange/bus.ts";
import { SimBus } from "../lab/sim-bus.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { NO_TOTALS } from "../store/store.ts";
import { type Kept, Leader, type LeaderParts, type Over } from "./leader.ts";
import { asControlMessage, COORDINATOR, type Licence, type Look, type Report } from "./messages.ts";
import { emptyDivision, Ownership } from "./ownership.ts";
import { partitionOf } from "./team-setup.ts";

const SETTINGS: Settings = { ...defaultSettings(), bucketCount: 8, grain: 1 };
const NAMES = ["a", "b"];

/** A leader, processes that report to it every second, and what it recorded. */
class Bench {
  readonly clock = new SimClock();
  readonly licences = new Map<string, Licence>();
  readonly looks: Look[] = [];
  readonly records: { readonly kept: Kept; readonly over: Over | undefined }[] = [];
  readonly logged: LogEntry[] = [];
  readonly leader: Leader;
  readonly #bus = new SimBus(this.clock, randomFrom(1));
  readonly #members = new Map<string, Membership>();

  constructor(change: Partial<LeaderParts> = {}, settings: Partial<Settings> = {}) {
    const all = { ...SETTINGS, ...settings };
    const workers = NAMES.map((name) => ({ name, weight: 1 }));
    const rules = { coordination: "static", partition: partitionOf(all), grain: 1, seeded: [] };
    const { division } = new Ownership({ ...rules, coordination: "static" }, workers, undefined);
    this.leader = new Leader({
      clock: this.clock,
      log: { write: (entry) => this.logged.push(entry) },
      bus: this.#bus,
      settings: all,
      seeds: [],
      spec: "",
      term: 1,
      licenceMs: 3_000,
      nodeTimeoutMs: Infinity,
      isLeading: () => true,
      onFault: (fault) => assert.fail(String(fault)),
      record: {
        isStopped: false,
        takeUp: async () => ({
          division,
          changes: [],
          begunAtMs: undefined,
          isResumed: false,
          over: undefined,
          isFirst: true,
        }),
        write: async (kept, over) => this.records.push({ kept, over }) > 0,
        stop: () => undefined,
      },
      ...change,
    });
  }

  async start(): Promise<void> {
    await this.clock.runUntil(this.leader.start());
    for (const name of NAMES) await this.join(name);
  }

  async join(name: string): Promise<void> {
    const member = await this.#bus.join(name, {
      onParcel: () => undefined,
      onReceipt: () => undefined,
      onMessage: (_, message) => {
        if (message["kind"] === "licence") this.licences.set(name, message as unknown as Licence);
        if (message["kind"] === "look") this.looks.push(message as unknown as Look);
      },
    });
    this.#members.set(name, member);
  }

  async pass(ms: number): Promise<void> {
    await this.clock.runUntil(new Promise<void>((resolve) => void this.clock.after(ms, resolve)));
  }

  /** These processes report once a second for so many seconds. */
  async run(seconds: number, names = NAMES, change: Partial<Report> = {}): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      for (const name of names)
        this.#members.get(name)?.tell(COORDINATOR, asControlMessage(this.#report(name, change)));
      await this.pass(1_000);
    }
  }

  #report(name: string, change: Partial<Report>): Report {
    const { leader = -1, term = 0, grant = 0, wave = 0 } = this.licences.get(name) ?? {};
    const epoch = this.leader.division?.epoch ?? 0;
    const totals = { ...NO_TOTALS, known: 10, pages: 4, done: 4 };
    const none = { sites: [], siteCount: 0, troubles: [], ledger: {}, recentBps: [] };
    const zero = { unreachable: 0, rateBps: 0, predictedBps: 0, waitingReaders: 0 };
    const rest = { pagesPerSecond: 0, connectionsOpen: 0, connectionsMax: 1, processId: 1 };
    const state = { state: "running", because: "", elapsedMs: 0, resumed: false, pending: 6 };
    const ledger = Object.fromEntries(
      "page robots sitemap redirect error duplicate retry exchange"
        .split(" ")
        .map((one) => [one, 0]),
    );
    const snapshot = { totals, ...none, ...zero, ...rest, ...state, ledger } as unknown as Snapshot;
    const exchange = {
      urlsSent: 3,
      urlsReceived: 0,
      pagesSent: 0,
      sentBytes: 20,
      sentTo: {},
      messages: 0,
    };
    return {
      kind: "report",
      spec: "",
      isLeaving: false,
      wantsStop: "",
      hasEnded: false,
      life: name,
      sentAtMs: this.clock.nowMs(),
      leader,
      term,
      grant,
      epoch,
      epochKnown: epoch,
      handedOver: epoch,
      wave,
      activity: 0,
      isDone: false,
      isDry: false,
      isSated: false,
      unreachable: 0,
      pages: 4,
      heldBps: null,
      bytes: 0,
      usedBps: 0,
      neededBps: 0,
      isHungry: false,
      wishes: [],
      held: [],
      given: [],
      waiting: null,
      popular: [],
      popularKnown: 0,
      exchange,
      leastPages: "",
      result: null,
      isWatching: true,
      change: 0,
      requests: [],
      droppedMessages: 0,
      snapshot,
      ...change,
    };
  }
}

test("the time of the crawl counts from the first report, and its end is recorded before it is announced", async () => {
  const bench = new Bench({}, { timeMaxMs: 10_000 });
  await bench.start();
  await bench.pass(20_000);
  await bench.run(9);
  assert.deepEqual([bench.leader.isEnding, bench.licences.get("a")?.end], [false, "no"]);
  await bench.run(3);
  assert.deepEqual(bench.records.at(-1)?.over, { how: "stop", why: "time limit" });
  assert.deepEqual(
    [bench.licences.get("a")?.end, bench.licences.get("a")?.why],
    ["stop", "time limit"],
  );
  assert.equal(bench.leader.snapshot().state, "stopping");
  await bench.clock.runUntil(bench.leader.stop());
});

test("when all have ended, the whole has the counts of all, and those that show it receive the result", async () => {
  const bench = new Bench();
  await bench.start();
  await bench.run(2);
  bench.leader.end("enough");
  await bench.run(1);
  await bench.run(1, NAMES, { hasEnded: true });
  await bench.pass(1_000);
  const { state, totals } = bench.leader.snapshot();
  assert.deepEqual([state, totals.pages], ["stopped", 8]);
  const result = bench.looks.at(-1)?.result as CrawlResult;
  assert.deepEqual([result.pages, result.stoppedBy, result.complete], [8, "enough", false]);
  assert.deepEqual([result.parallel?.urlsExchanged, result.parallel?.procs], [6, 2]);
  assert.ok(bench.leader.mayGo("a"));
  await bench.clock.runUntil(bench.leader.stop());
});

test("a change that is divided among the processes is, and one that is refused has a reason", async () => {
  const bench = new Bench({ partOf: (_, value) => String(Number(value) / 2) });
  await bench.start();
  await bench.run(1);
  bench.leader.onRequest({ id: "x", key: "connections", value: "10" });
  bench.leader.onRequest({ id: "y", key: "colour", value: "red" });
  await bench.run(1);
  assert.equal(bench.licences.get("b")?.changes[0]?.value, "5");
  assert.deepEqual(bench.leader.outcomeOf("x")?.missingNames, NAMES);
  assert.match(bench.leader.outcomeOf("y")?.message ?? "", /colour/);
  await bench.run(1, NAMES, { change: 1 });
  assert.equal(bench.leader.outcomeOf("x")?.missing, 0);
  await bench.clock.runUntil(bench.leader.stop());
});

test("a silent node keeps its part for the node timeout, and then the others take it over", async () => {
  const bench = new Bench({ nodeTimeoutMs: 60_000 });
  await bench.start();
  await bench.run(2);
  await bench.run(59, ["a"]);
  assert.ok(bench.leader.division?.owners.includes("b"));
  assert.equal(bench.leader.snapshot().parallel?.procs[1]?.state, "away");
  await bench.run(3, ["a"]);
  assert.deepEqual(new Set(bench.leader.division?.owners), new Set(["a"]));
  assert.ok(bench.logged.some(({ message }) => message.includes("lost")));
  await bench.clock.runUntil(bench.leader.stop());
});

test("a node gets its first licence when a division with it is recorded", async () => {
  const writes: (() => void)[] = [];
  const partition = partitionOf(SETTINGS);
  const bench = new Bench({
    nodeTimeoutMs: 60_000,
    record: {
      isStopped: false,
      takeUp: async () => ({
        division: emptyDivision(partition),
        changes: [],
        begunAtMs: undefined,
        isResumed: false,
        over: undefined,
        isFirst: true,
      }),
      write: () => new Promise((resolve) => writes.push(() => resolve(true))),
      stop: () => undefined,
    },
  });
  await bench.start();
  await bench.run(3);
  assert.equal(bench.licences.size, 0);
  writes.shift()?.();
  await bench.run(1);
  assert.deepEqual([...bench.licences.keys()], NAMES);
  await bench.clock.runUntil(bench.leader.stop());
});
