import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capture } from "../output/output.ts";
import { SimClock } from "./sim-clock.ts";
import { openSimOutput, SimArchive } from "./sim-output.ts";

test("records beyond the last commit's marks are removed when the archive is reopened", async () => {
  const clock = new SimClock();
  const archive = new SimArchive();
  const before = openSimOutput(archive, clock, {});
  await clock.runUntil(before.write(captureOf("http://a.test/1")));
  const marks = before.marks();
  const lost = await clock.runUntil(before.write(captureOf("http://a.test/2")));
  assert.equal(lost.offset, 1);

  const after = openSimOutput(archive, clock, marks);
  const again = await clock.runUntil(after.write(captureOf("http://a.test/2")));
  assert.deepEqual(again, lost);
  assert.deepEqual(
    archive.records.map(({ url }) => url),
    ["http://a.test/1", "http://a.test/2"],
  );
});

function captureOf(url: string): Capture {
  const answer = { status: 200, statusText: "OK", httpVersion: "1.1", headers: [] } as const;
  const rest = { address: "::1", requestHead: "", truncated: undefined, repeats: undefined };
  return { ...answer, ...rest, url, atMs: 0, body: new Uint8Array(3) };
}
