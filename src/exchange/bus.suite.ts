/** The promises of every bus, as tests; a faulty bus passes them too. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { MESSAGE_BYTES_MAX, PARCEL_BYTES_MAX } from "./bus.ts";
import type { Bus, Membership, ControlMessage, Parcel, Receipt } from "./bus.ts";

export interface BusUnderTest {
  readonly bus: Bus;
  /** Waits until everything in transit has arrived or is lost. */
  readonly settle: () => Promise<void>;
}

interface Node {
  readonly member: Membership;
  readonly parcels: Parcel[];
  readonly receipts: Receipt[];
  readonly controls: (readonly [from: string, control: ControlMessage])[];
}

export function busSuite(name: string, open: () => BusUnderTest | Promise<BusUnderTest>): void {
  test(`${name}: a parcel sent until its receipt is there arrives whole`, async () => {
    const { bus, settle } = await open();
    const [a, b] = [await join(bus, "a"), await join(bus, "b")];
    const body = new Uint8Array([1, 2, 3]);
    await until(settle, () => {
      a.member.send({ id: "p1", to: "b", body });
      return a.receipts.length > 0;
    });
    assert.deepEqual(b.parcels[0], { id: "p1", from: "a", to: "b", body });
    assert.deepEqual(a.receipts[0], { parcelId: "p1", from: "b", to: "a" });
    await bus.close();
  });

  test(`${name}: nothing is delivered inside the call that sends`, async () => {
    const { bus, settle } = await open();
    const [a, b] = [await join(bus, "a"), await join(bus, "b")];
    await until(settle, () => {
      const before = b.parcels.length;
      a.member.send({ id: "p1", to: "b", body: new Uint8Array(1) });
      assert.equal(b.parcels.length, before);
      return before > 0;
    });
    await bus.close();
  });

  test(`${name}: the bytes delivered are those at the moment of sending`, async () => {
    const { bus, settle } = await open();
    const [a, b] = [await join(bus, "a"), await join(bus, "b")];
    await until(settle, () => {
      // A slice of a Buffer is no copy.
      for (const body of [new Uint8Array([7]), Buffer.of(7)]) {
        a.member.send({ id: body.constructor.name, to: "b", body });
        body[0] = 8;
      }
      return new Set(b.parcels.map(({ id }) => id)).size === 2;
    });
    assert.ok(b.parcels.every((parcel) => parcel.body[0] === 7));
    await bus.close();
  });

  test(`${name}: only the node named gets anything, and nothing once it has left`, async () => {
    const { bus, settle } = await open();
    const [a, b, c] = [await join(bus, "a"), await join(bus, "b"), await join(bus, "c")];
    a.member.send({ id: "p0", to: "nobody", body: new Uint8Array(1) });
    await until(settle, () => {
      a.member.send({ id: "p1", to: "b", body: new Uint8Array(1) });
      return b.parcels.length > 0;
    });
    a.member.send({ id: "p2", to: "b", body: new Uint8Array(1) });
    await b.member.leave();
    const heard = b.parcels.length;
    for (let count = 0; count < 20; count++) {
      a.member.send({ id: "p2", to: "b", body: new Uint8Array(1) });
      await settle();
    }
    assert.equal(b.parcels.length, heard);
    assert.deepEqual([...a.parcels, ...c.parcels, ...c.receipts], []);
    await bus.close();
  });

  test(`${name}: a parcel above the limit is our own mistake`, async () => {
    const { bus } = await open();
    const a = await join(bus, "a");
    const body = new Uint8Array(PARCEL_BYTES_MAX + 1);
    assert.throws(() => a.member.send({ id: "p1", to: "a", body }), { name: "BrokenPromise" });
    await bus.close();
  });

  test(`${name}: a control message repeated until it arrives is as it was when sent`, async () => {
    const { bus, settle } = await open();
    const [a, b] = [await join(bus, "a"), await join(bus, "b")];
    await until(settle, () => {
      const heard = b.controls.length;
      const control = { need: 5, names: ["é", "\n"], more: { isDry: false } };
      a.member.tell("b", control);
      assert.equal(b.controls.length, heard, "not inside the call");
      control.need = 6;
      control.names.push("later");
      return heard > 0;
    });
    const told = { need: 5, names: ["é", "\n"], more: { isDry: false } };
    for (const heard of b.controls) assert.deepEqual(heard, ["a", told]);
    await bus.close();
  });

  test(`${name}: a control message reaches its addressee only, and none once that has left`, async () => {
    const { bus, settle } = await open();
    const [a, b, c] = [await join(bus, "a"), await join(bus, "b"), await join(bus, "c")];
    a.member.tell("nobody", { lost: true });
    await until(settle, () => {
      a.member.tell("b", {});
      a.member.tell("a", { toSelf: true });
      return b.controls.length > 0 && a.controls.length > 0;
    });
    a.member.tell("b", {});
    await b.member.leave();
    const heard = b.controls.length;
    for (let count = 0; count < 20; count++) {
      a.member.tell("b", {});
      await settle();
    }
    assert.equal(b.controls.length, heard);
    for (const [from, control] of a.controls)
      assert.deepEqual([from, control], ["a", { toSelf: true }]);
    assert.deepEqual([...c.controls, ...a.parcels, ...b.parcels], []);
    await bus.close();
  });

  test(`${name}: a control message of any length arrives whole`, async () => {
    const { bus, settle } = await open();
    const a = await join(bus, "a");
    const random = randomFrom(1);
    const short = "x".repeat(MESSAGE_BYTES_MAX - '{"text":""}'.length);
    const long = Array.from({ length: 20_000 }, () => random.next().toString(36)).join();
    for (const text of [short, `${short}x`, long])
      await until(settle, () => {
        a.member.tell("a", { text });
        return a.controls.some(([from, control]) => from === "a" && control["text"] === text);
      });
    await bus.close();
  });

  test(`${name}: a flood of controls may be lost, but parcels still get through`, async () => {
    const { bus, settle } = await open();
    const [a, b] = [await join(bus, "a"), await join(bus, "b")];
    await until(settle, () => {
      a.member.send({ id: "p1", to: "b", body: new Uint8Array(1) });
      for (let count = 0; count < 300; count++) a.member.tell("b", { count });
      return a.receipts.length > 0 && b.controls.length > 0;
    });
    await bus.close();
  });

  test(`${name}: a flood is refused at some length, or taken and delivered`, async () => {
    const { bus, settle } = await open();
    const [a, b] = [await join(bus, "a"), await join(bus, "b")];
    const waiting = new Set(Array.from({ length: 5_000 }, (_, index) => `p${index}`));
    await until(settle, () => {
      for (const { parcelId } of a.receipts.splice(0)) waiting.delete(parcelId);
      for (const id of waiting) a.member.send({ id, to: "b", body: new Uint8Array(1) });
      return waiting.size === 0;
    });
    assert.equal(new Set(b.parcels.map(({ id }) => id)).size, 5_000);
    await bus.close();
  });
}

/** A node that commits at once, so that every parcel, repeated or not, gets its receipt. */
async function join(bus: Bus, name: string): Promise<Node> {
  const parcels: Parcel[] = [];
  const receipts: Receipt[] = [];
  const controls: (readonly [from: string, control: ControlMessage])[] = [];
  const member = await bus.join(name, {
    onParcel: (parcel) => {
      parcels.push(parcel);
      member.acknowledge(parcel);
    },
    onReceipt: (receipt) => receipts.push(receipt),
    onMessage: (from, control) => controls.push([from, control]),
  });
  return { member, parcels, receipts, controls };
}

async function until(settle: () => Promise<void>, attempt: () => boolean): Promise<void> {
  for (let count = 0; count < 1_000; count++) {
    if (attempt()) return;
    await settle();
  }
  assert.fail("a thousand attempts were not enough");
}
