import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { TRAP_DEFAULTS, Traps } from "../frontier/traps.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { openSimStore } from "../lab/sim-store.ts";
import { MemoryDisk } from "../store/memory/store-memory.ts";
import type { Store } from "../store/store.ts";
import { makeTopic, makeUrl } from "../store/store.suite.ts";
import { Notebook } from "./batch.ts";
import { Roster } from "./sites.ts";
import { Tally } from "./counters.ts";

const BODY = new Uint8Array([1, 2, 3]);

test("parcels, receipts and facts are committed together, the last fact of a key", async () => {
  const { clock, store, notebook } = desk(0);
  notebook.noteOutgoing({ seq: 1, to: "b", body: BODY });
  notebook.noteOutgoing({ seq: 2, to: "b", body: BODY });
  notebook.noteFact("epoch", "1");
  notebook.noteFact("epoch", "2");
  assert.equal(store.outboxCount, 0);
  await clock.runUntilIdle();
  assert.deepEqual([store.outboxCount, store.recall("epoch")], [2, "2"]);
  // To another node, since the first has left.
  notebook.noteDelivered(1);
  notebook.noteOutgoing({ seq: 3, to: "c", body: BODY });
  await clock.runUntilIdle();
  const kept = store.outbox(0, 9).map(({ seq, to }) => `${seq} ${to}`);
  assert.deepEqual(kept, ["2 b", "3 c"]);
  assert.equal(notebook.isEmpty, true);
});

test("the last topic of a page is told until it is stored, and stored with its page", async () => {
  const { clock, store, notebook, tally } = desk(0);
  tally.found();
  notebook.noteUrl(makeUrl(1, 1, 0));
  notebook.noteTopic(makeTopic(1, 1));
  notebook.noteTopic(makeTopic(1, 2));
  assert.deepEqual([notebook.topicOf(1), store.topicOf(1)], [makeTopic(1, 2), undefined]);
  await clock.runUntilIdle();
  assert.deepEqual([notebook.topicOf(1), store.topicOf(1)], [undefined, makeTopic(1, 2)]);
});

test("a full disk keeps parcels and facts until there is room, and sends none twice", async () => {
  const { clock, store, notebook, troubles } = desk(0.7);
  for (let seq = 1; seq <= 20; seq++) {
    notebook.noteOutgoing({ seq, to: "b", body: BODY });
    notebook.noteFact("last", `${seq}`);
    if (seq % 3 === 0) notebook.noteDelivered(seq);
    await clock.runUntilIdle();
  }
  assert.ok(troubles() > 0, "the disk was full at times");
  assert.deepEqual([store.outboxCount, store.nextParcelSeq, store.recall("last")], [14, 21, "20"]);
});

test("what is abandoned never reaches the store", async () => {
  const { clock, store, notebook } = desk(0);
  notebook.noteOutgoing({ seq: 1, to: "b", body: BODY });
  notebook.noteFact("epoch", "1");
  notebook.noteDelivered(9);
  notebook.abandon();
  await clock.runUntilIdle();
  assert.deepEqual([store.nextParcelSeq, store.recall("epoch")], [1, undefined]);
});

function desk(fullShare: number) {
  const clock = new SimClock();
  const never = { crashAtCommit: undefined, onCrash: () => assert.fail("no crash was asked for") };
  const faults = { random: randomFrom(1), fullShare, ...never };
  const store: Store = openSimStore(new MemoryDisk(), faults);
  const tally = new Tally(store.totals);
  let troubles = 0;
  const notebook = new Notebook({
    clock,
    store,
    roster: new Roster(store, new Traps(TRAP_DEFAULTS), 100, clock),
    tally,
    marks: () => ({}),
    beforeCommit() {},
    onCommit() {},
    onTrouble: (trouble) => {
      if (trouble !== undefined) troubles++;
    },
    onFault: (fault) => assert.fail(String(fault)),
  });
  return { clock, store, notebook, tally, troubles: () => troubles };
}
