import assert from "node:assert/strict";
import { test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import { randomFrom } from "../base/random.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { ChangeRequests } from "./change-requests.ts";

const DONE = { isRefused: false, message: "done", processes: 3, missing: 0, missingNames: [] };

function bench(): { clock: SimClock; requests: ChangeRequests; idOf: (at: number) => string } {
  const clock = new SimClock();
  const requests = new ChangeRequests(clock, randomFrom(1), "processes");
  return { clock, requests, idOf: (at) => requests.open[at]?.id ?? "" };
}

test("a request is repeated until all processes have made the change", async () => {
  const { requests, idOf } = bench();
  const confirmed = requests.request("limit", "1MB/s");
  const id = idOf(0);
  requests.onOutcome({ ...DONE, id, missing: 1, missingNames: ["c"] });
  assert.deepEqual(requests.open, [{ id, key: "limit", value: "1MB/s" }]);
  requests.onOutcome({ ...DONE, id });
  assert.equal(await confirmed, "done (confirmed by 3 of 3 processes)");
  assert.deepEqual(requests.open, []);
});

test("a request that no leader answers is reported after 10 s, and still repeated", async () => {
  const { clock, requests, idOf } = bench();
  const given = requests.request("pause", "true").catch((error: unknown) => error);
  const error = await clock.runUntil(given);
  assert.ok(error instanceof CrawlError && error.code === "NOT_APPLIED");
  assert.equal(clock.nowMs(), 10_000 + new SimClock().nowMs());
  assert.equal(requests.open.length, 1);
  requests.onOutcome({ ...DONE, id: idOf(0), missing: 2 });
  assert.equal(requests.open.length, 0);
});

test("a ninth request at a time is refused, and the end of the process refuses all", async () => {
  const { requests } = bench();
  const all = Array.from({ length: 8 }, () => requests.request("pause", "true"));
  await assert.rejects(requests.request("pause", "true"), /earlier changes still wait/);
  const ends = Promise.allSettled(all);
  requests.close();
  assert.deepEqual(
    (await ends).map(({ status }) => status),
    Array.from({ length: 8 }, () => "rejected"),
  );
});
