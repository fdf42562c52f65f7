import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import type { Bus, Membership } from "../exchange/bus.ts";
import { busSuite } from "../exchange/bus.suite.ts";
import { NO_BUS_FAULTS, SimBus } from "./sim-bus.ts";
import { SimClock } from "./sim-clock.ts";

const FAULTS = { lossShare: 0.3, repeatShare: 0.2, refusalShare: 0.1, delayMsMax: 5_000 };

for (const [name, faults] of Object.entries({
  "sim bus": NO_BUS_FAULTS,
  "faulty sim bus": FAULTS,
})) {
  busSuite(name, () => {
    const clock = new SimClock();
    return { bus: new SimBus(clock, randomFrom(1), faults), settle: () => clock.runUntilIdle() };
  });
}

test("sending again until the receipt makes every parcel take effect once, whatever is lost", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const clock = new SimClock();
    const bus = new SimBus(clock, randomFrom(seed), FAULTS);
    const effects = { a: new Map<string, number>(), b: new Map<string, number>() };
    const ends = [
      talk(clock, bus, { name: "a", to: "b", effects: effects.a }),
      talk(clock, bus, { name: "b", to: "a", effects: effects.b }),
    ];
    await clock.runUntil(Promise.all(ends));
    for (const side of [effects.a, effects.b]) {
      assert.equal(side.size, 50, `seed ${seed}`);
      assert.ok(
        [...side.values()].every((count) => count === 1),
        `seed ${seed}`,
      );
    }
  }
});

test("the same seed loses and repeats the same parcels", async () => {
  const first = await hearsay(4);
  assert.deepEqual(await hearsay(4), first);
  assert.ok(first.length !== 100 && first.join() !== first.toSorted().join());
});

/** What a node hears, and when, of a hundred parcels to itself. */
async function hearsay(seed: number): Promise<string[]> {
  const clock = new SimClock();
  const bus = new SimBus(clock, randomFrom(seed), FAULTS);
  const heard: string[] = [];
  const onParcel = ({ id }: { readonly id: string }): number =>
    heard.push(`${id} at ${clock.nowMs()}`);
  const member = await bus.join("a", { onParcel, onReceipt() {}, onNote() {} });
  for (let index = 0; index < 100; index++) {
    member.send({ id: `p${index}`, to: "a", body: new Uint8Array(0) });
  }
  await clock.runUntilIdle();
  return heard;
}

interface Talker {
  readonly name: string;
  readonly to: string;
  /** How often each parcel took effect here. */
  readonly effects: Map<string, number>;
}

/** Fifty parcels from an outbox, resent every second; resolves when all receipts are there. */
async function talk(clock: SimClock, bus: Bus, { name, to, effects }: Talker): Promise<void> {
  const outbox = new Set(Array.from({ length: 50 }, (_, index) => `${name}${index}`));
  const { promise, resolve } = Promise.withResolvers<void>();
  const member: Membership = await bus.join(name, {
    onParcel: (parcel) => {
      if (!effects.has(parcel.id)) effects.set(parcel.id, 1);
      member.acknowledge(parcel);
    },
    onReceipt: ({ parcelId }) => {
      outbox.delete(parcelId);
      if (outbox.size === 0) resolve();
    },
    onNote() {},
  });
  const resend = (): void => {
    for (const id of outbox) member.send({ id, to, body: new Uint8Array(1) });
    if (outbox.size > 0) clock.after(1_000, resend);
  };
  resend();
  return promise;
}
