import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { LogEntry } from "../base/log.ts";
import { openTraces, type RequestSpan } from "./traces.ts";

const SPAN: RequestSpan = {
  url: "https://example.org/a",
  site: "https://example.org",
  address: "192.0.2.1",
  outcome: "ok",
  status: 200,
  bytes: 1234,
  atMs: 1_700_000_000_123,
  durationMs: 45,
};

test("a collector receives every request as a span, with times in nanoseconds", async () => {
  const messages: { path: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      messages.push({ path: request.url ?? "", body });
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const log: LogEntry[] = [];
  const collector = `http://127.0.0.1:${port}/`;
  const traces = openTraces({
    collector,
    version: "1",
    log: { write: (entry) => log.push(entry) },
  });
  for (let count = 0; count < 600; count++) traces.add(SPAN);
  await traces.close();
  server.close();
  assert.deepEqual(log, []);
  assert.ok(messages.every(({ path }) => path === "/v1/traces"));
  const spans = messages.flatMap(
    ({ body }) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans,
  );
  assert.equal(spans.length, 600);
  assert.match(spans[0].traceId, /^[0-9a-f]{32}$/);
  assert.equal(spans[0].startTimeUnixNano, "1700000000123000000");
  assert.equal(spans[0].endTimeUnixNano, "1700000000168000000");
  assert.equal(new Set(spans.map(({ spanId }: { spanId: string }) => spanId)).size, 600);
});

test("an unreachable collector is logged once and has no other effect", async () => {
  const log: LogEntry[] = [];
  const traces = openTraces({
    collector: "http://127.0.0.1:9",
    version: "1",
    log: { write: (entry) => log.push(entry) },
  });
  for (let count = 0; count < 20_000; count++) traces.add(SPAN);
  await traces.close();
  assert.equal(log.length, 1);
});
