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

test("with resends until the receipt, every parcel takes effect once despite losses", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const clock = new SimClock();
    const bus = new SimBus(clock, randomFrom(seed), FAULTS);
    const effects = { a: new Map<string, number>(), b: new Map<string, number>() };
    const ends = [
      exchange(clock, bus, { name: "a", to: "b", effects: effects.a }),
      exchange(clock, bus, { name: "b", to: "a", effects: effects.b }),
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
  const first = await deliveries(4);
  assert.deepEqual(await deliveries(4), first);
  assert.ok(first.length !== 100 && first.join() !== first.toSorted().join());
});

/** The deliveries, with their times, of a hundred parcels that a node sends to itself. */
async function deliveries(seed: number): Promise<string[]> {
  const clock = new SimClock();
  const bus = new SimBus(clock, randomFrom(seed), FAULTS);
  const received: string[] = [];
  const onParcel = ({ id }: { readonly id: string }): number =>
    received.push(`${id} at ${clock.nowMs()}`);
  const member = await bus.join("a", { onParcel, onReceipt() {}, onMessage() {} });
  for (let index = 0; index < 100; index++) {
    member.send({ id: `p${index}`, to: "a", body: new Uint8Array(0) });
  }
  await clock.runUntilIdle();
  return received;
}

interface Party {
  readonly name: string;
  readonly to: string;
  /** By parcel, the number of times it took effect here. */
  readonly effects: Map<string, number>;
}

/** Sends fifty parcels from an outbox and resends them every second; resolves with the last receipt. */
async function exchange(clock: SimClock, bus: Bus, { name, to, effects }: Party): Promise<void> {
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
    onMessage() {},
  });
  const resend = (): void => {
    for (const id of outbox) member.send({ id, to, body: new Uint8Array(1) });
    if (outbox.size > 0) clock.after(1_000, resend);
  };
  resend();
  return promise;
}
