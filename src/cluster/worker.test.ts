import assert from "node:assert/strict";
import { test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import { randomFrom } from "../base/random.ts";
import type { CrawlHandle } from "../crawl/crawl.ts";
import type { ControlMessage } from "../exchange/bus.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { asControlMessage, COORDINATOR, type Licence, type Report } from "./messages.ts";
import { Worker } from "./worker.ts";

const LICENCE: Licence = {
  kind: "licence",
  life: "",
  answers: 0,
  forMs: 3_000,
  aloneMs: 0,
  turnsAloneMs: 0,
  aloneBps: null,
  leader: 1,
  term: 1,
  grant: 1,
  limitBps: null,
  wholeBps: null,
  pagesMax: null,
  division: null,
  wave: 1,
  granted: [],
  recalled: [],
  popular: [],
  held: "",
  changes: [],
  outcomes: [],
  end: "no",
  why: "",
};

/** A worker with a crawl that only records what is called, and its last report. */
class Bench {
  readonly clock = new SimClock();
  readonly holds = new Set<string>();
  readonly calls: unknown[][] = [];
  readonly changes: string[] = [];
  last: Report | undefined;
  readonly worker: Worker;
  #grants = 0;

  constructor() {
    const call =
      (name: string) =>
      (...words: unknown[]): void =>
        void this.calls.push([name, ...words]);
    const crawl = {
      hold: (why: string, isHeld: boolean) => {
        if (isHeld) this.holds.add(why);
        else this.holds.delete(why);
      },
      setLimit: call("limit"),
      setPages: call("pages"),
      finish: call("finish"),
      stop: call("stop"),
      pulse: () => ({ known: 0, pending: 0, pages: 0, receivedBytes: 0, waitingReaders: 0 }),
      isIdle: true,
      isSated: false,
      isOutOfPatience: false,
      leastPages: [],
      snapshot: () => ({ because: "", sites: [], troubles: [] }),
    } as unknown as CrawlHandle;
    this.worker = new Worker({
      clock: this.clock,
      crawl,
      random: randomFrom(1),
      bus: {
        tell: (_: string, message: ControlMessage) => {
          if (message["kind"] === "report") this.last = message as unknown as Report;
        },
      } as never,
      change: (key) => this.changes.push(key),
    });
  }

  get isWaiting(): boolean {
    return this.holds.has("waiting for work");
  }

  /** The coordinator answers the last report. */
  answer(change: Partial<Licence> = {}): void {
    this.#grants += 1;
    const answers = this.last?.sentAtMs ?? 0;
    const life = this.last?.life ?? "";
    const licence = { ...LICENCE, life, answers, grant: this.#grants, ...change };
    this.worker.inbox.onMessage(COORDINATOR, asControlMessage(licence));
  }

  async pass(ms: number): Promise<void> {
    const passed = new Promise<void>((resolve) => void this.clock.after(ms, resolve));
    await this.clock.runUntil(passed);
  }
}

test("it acts only while it has a licence, which ends by its own clock", async () => {
  const bench = new Bench();
  assert.ok(bench.isWaiting);
  bench.answer({ limitBps: 500, wholeBps: 1_000 });
  assert.ok(!bench.isWaiting && bench.worker.isLicensed);
  assert.deepEqual(bench.calls, [["limit", 500, 1_000]]);
  await bench.pass(3_100);
  assert.ok(bench.isWaiting && !bench.worker.isLicensed);
});

test("without a coordinator it continues for the time of its licence, at a falling rate", async () => {
  const bench = new Bench();
  bench.answer({ limitBps: 900, wholeBps: 1_000, aloneMs: 100_000, aloneBps: 300 });
  await bench.pass(3_050);
  assert.deepEqual([bench.isWaiting, bench.worker.isLicensed], [false, false]);
  await bench.pass(30_000);
  const half = Number(bench.last?.heldBps);
  assert.ok(Math.abs(half - 600) < 10, `half way down after 30 s: ${half} B/s`);
  await bench.pass(30_100);
  assert.equal(bench.last?.heldBps, 300);
  assert.deepEqual(bench.calls.at(-1), ["limit", 300, 1_000]);
  await bench.pass(39_500);
  assert.ok(!bench.isWaiting);
  await bench.pass(500);
  assert.deepEqual([bench.isWaiting, bench.last?.heldBps], [true, 0]);
});

test("a later coordinator's licence continues what an earlier one granted", async () => {
  const bench = new Bench();
  bench.answer({ limitBps: 900, wholeBps: 1_000, aloneMs: 100_000, aloneBps: 300 });
  await bench.pass(20_000);
  bench.answer({ leader: 2, limitBps: 700, wholeBps: 1_000 });
  assert.ok(!bench.isWaiting && bench.worker.isLicensed);
  assert.deepEqual(bench.calls.at(-1), ["limit", 700, 1_000]);
});

test("a licence of a term that has ended, and one for another process of its name, are void", async () => {
  const bench = new Bench();
  bench.answer();
  await bench.pass(3_100);
  bench.answer();
  bench.answer({ term: 2, life: "another" });
  assert.ok(bench.isWaiting);
  bench.answer({ term: 2 });
  assert.ok(!bench.isWaiting);
});

test("licences of earlier coordinators, late ones, and answers from the future have no effect", async () => {
  const bench = new Bench();
  bench.answer({ leader: 7 });
  bench.answer({ leader: 6, held: "earlier coordinator" });
  bench.answer({ leader: 7, grant: 1, held: "repeated" });
  bench.answer({ leader: 7, answers: bench.clock.nowMs() + 1, held: "from the future" });
  await bench.pass(200);
  assert.deepEqual([...bench.holds], []);
  bench.answer({ leader: 7, held: "a reason" });
  assert.deepEqual([...bench.holds], ["paused with all processes: a reason"]);
});

test("invalid messages are dropped and reported", async () => {
  const bench = new Bench();
  for (const text of ['{"kind":"licence"}', "{}", '{"kind":"look","snapshot":{}}'])
    bench.worker.inbox.onMessage(COORDINATOR, JSON.parse(text) as ControlMessage);
  await bench.pass(100);
  assert.equal(bench.last?.droppedMessages, 3);
  assert.ok(bench.isWaiting);
});

test("it makes each change once, and only those that concern it alone", async () => {
  const bench = new Bench();
  const change = (number: number, key: string): Licence["changes"][number] => {
    return { id: `${number}`, key, value: "1", number, message: "" };
  };
  const changes = [change(1, "delay"), change(2, "limit")];
  bench.answer({ changes });
  bench.answer({ changes: [...changes, change(3, "connections")] });
  await bench.pass(100);
  assert.deepEqual(bench.changes, ["delay", "connections"]);
  assert.equal(bench.last?.change, 3);
});

test("a requested change resolves when all have confirmed it, and names those that have not", async () => {
  const bench = new Bench();
  const refused = bench.worker.request("limit", "fast");
  const confirmed = bench.worker.request("limit", "1MB/s");
  const late = bench.worker.request("pause", "true");
  const [a = "", b = "", c = ""] = bench.last?.requests.map(({ id }) => id) ?? [];
  const outcome = { isRefused: false, message: "done", processes: 2, missing: 0, missingNames: [] };
  bench.answer({
    outcomes: [
      { ...outcome, id: a, isRefused: true, message: "no limit" },
      { ...outcome, id: b },
      { ...outcome, id: c, missing: 1, missingNames: ["node-b"] },
    ],
  });
  await assert.rejects(refused, (error) => error instanceof CrawlError && error.code === "USAGE");
  assert.match(await confirmed, /done \(confirmed by 2 of 2 nodes\)/);
  assert.deepEqual(
    bench.last?.requests.map(({ id }) => id),
    [a, b, c],
  );
  const ended = assert.rejects(late, /1 of 2 nodes have not confirmed it within 10 s: node-b/);
  await bench.pass(10_100);
  await ended;
  assert.deepEqual(bench.last?.requests, []);
});

test("a process that is to end ends without a coordinator, but not at once", async () => {
  const bench = new Bench();
  bench.worker.leave("leaving");
  await bench.pass(14_000);
  assert.deepEqual(bench.calls, []);
  await bench.pass(1_500);
  assert.deepEqual(bench.calls[0], ["stop", "leaving"]);
});
