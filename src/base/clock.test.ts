import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, TIMER_MAX_MS } from "./clock.ts";

test("a delay beyond the maximum of system timers does not fire at once", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", onWarning);
  let fired = 0;
  const delays = [TIMER_MAX_MS, TIMER_MAX_MS + 1, 1e23, Infinity];
  const cancels = delays.map((delayMs) => systemClock.after(delayMs, () => (fired += 1)));
  // A delay beyond the maximum would become a timer of 1 ms, which fires before one of 20 ms.
  await new Promise<void>((resolve) => void systemClock.after(20, resolve));
  for (const cancel of cancels) cancel();
  process.off("warning", onWarning);
  assert.equal(fired, 0);
  assert.deepEqual(warnings, []);
});

test("a delay beyond the maximum of system timers is waited for to its end", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let fired = 0;
  systemClock.after(2.5 * TIMER_MAX_MS, () => (fired += 1));
  const cancel = systemClock.after(2.5 * TIMER_MAX_MS, () => (fired += 100));
  t.mock.timers.tick(TIMER_MAX_MS);
  t.mock.timers.tick(TIMER_MAX_MS);
  cancel();
  t.mock.timers.tick(TIMER_MAX_MS / 2 - 1);
  assert.equal(fired, 0);
  t.mock.timers.tick(1);
  assert.equal(fired, 1);
});

test("a delay of NaN fails an assertion instead of becoming a timer of 1 ms", () => {
  assert.throws(() => systemClock.after(Number.NaN, () => undefined), /a delay is a number/);
});
