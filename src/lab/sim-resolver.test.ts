import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { SimClock } from "./sim-clock.ts";
import { SimResolver } from "./sim-resolver.ts";
import { makeWorld } from "./world/plan.ts";

test("names of the world resolve to their address, other names do not exist", async () => {
  const clock = new SimClock();
  const resolver = new SimResolver(clock, makeWorld({ siteCount: 2 }), randomFrom(1));
  const known = await clock.runUntil(resolver.resolve("site1.test", 80));
  assert.deepEqual(known, { kind: "addresses", addresses: ["198.18.0.2"] });
  const unknown = await clock.runUntil(resolver.resolve("site2.test", 80));
  assert.equal(unknown.kind === "failed" && unknown.reason, "dns_nxdomain");
});

test("answers are cached for an hour, timeouts are not cached", async () => {
  const clock = new SimClock();
  const resolver = new SimResolver(clock, makeWorld(), randomFrom(1), 1);
  const tookMs = async (): Promise<number> => {
    const startMs = clock.nowMs();
    await clock.runUntil(resolver.resolve("site0.test", 80));
    return clock.nowMs() - startMs;
  };
  const first = [await tookMs(), await tookMs(), await tookMs(), await tookMs()];
  assert.deepEqual(first, [5_000, 5_000, 20, 0]);
  await clock.runFor(3_600_000);
  assert.equal(await tookMs(), 5_000);
});
