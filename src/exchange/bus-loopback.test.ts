import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { LoopbackBus } from "./bus-loopback.ts";
import { busSuite } from "./bus.suite.ts";

busSuite("loopback", () => ({
  bus: new LoopbackBus(),
  settle: async () => {
    // A parcel takes one turn and its receipt the next.
    for (let count = 0; count < 3; count++) await turn();
  },
}));

test("a full queue refuses, and takes again once it has been emptied", async () => {
  const bus = new LoopbackBus(2);
  const member = await bus.join("a", { onParcel() {}, onReceipt() {}, onNote() {} });
  const send = (): boolean => member.send({ id: "p", to: "a", body: new Uint8Array(0) });
  assert.deepEqual([send(), send(), send()], [true, true, false]);
  await turn();
  assert.equal(send(), true);
});
