import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEntry } from "../base/log.ts";
import { MessageReader } from "./message-reader.ts";

test("invalid messages are counted, and logged ever more rarely, with sender and field", () => {
  const entries: LogEntry[] = [];
  const reader = new MessageReader({ write: (entry) => entries.push(entry) });
  assert.deepEqual(reader.read("a", { kind: "heard", leader: 1, grant: 2 }), {
    kind: "heard",
    leader: 1,
    grant: 2,
  });
  for (let count = 0; count < 150; count++)
    assert.equal(reader.read("a", { kind: "heard", leader: 1 }), undefined);
  assert.equal(reader.dropped, 150);
  assert.deepEqual(
    entries.map(({ values }) => values),
    [1, 10, 100].map((count) => ({ from: "a", field: "grant", count })),
  );
});
