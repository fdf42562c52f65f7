import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { decodePage, encodePage, type PageMessage } from "./page-message.ts";

function message(bytes: number, isCoded: boolean): PageMessage {
  return {
    kind: "page",
    epoch: 3,
    bucket: 7,
    page: {
      url: "https://example.org/a",
      depth: 2,
      redirects: 1,
      topic: "science",
      confidence: 0.75,
      atMs: 1_700_000_000_000,
      durationMs: 12,
      wireBytes: 5_000,
      address: "192.0.2.1",
      requestHead: "GET /a HTTP/1.1\r\n\r\n",
      status: 200,
      statusText: "OK",
      httpVersion: "1.1",
      headers: isCoded ? [["Content-Encoding", "gzip"]] : [["content-type", "text/html"]],
      contentType: "text/html",
      etag: "",
      lastModified: "",
      remarks: [],
      body: Buffer.alloc(bytes, "<p>word "),
    },
  };
}

test("a page arrives as it was sent, packed or not", () => {
  for (const isCoded of [true, false])
    for (const bytes of [0, 1, 100_000]) {
      const sent = message(bytes, isCoded);
      const read = decodePage(encodePage(sent));
      assert.ok(read);
      assert.equal(Buffer.compare(read.page.body, sent.page.body), 0);
      assert.deepEqual({ ...read.page, body: 0 }, { ...sent.page, body: 0 });
    }
});

test("a page that was cut or bent on its way is no page, and never an error", () => {
  const whole = encodePage(message(3_000, false));
  const random = randomFrom(1);
  for (let count = 0; count < 2_000; count++) {
    const bent = Uint8Array.from(whole.subarray(0, 1 + below(random, whole.length)));
    bent[below(random, bent.length)] = below(random, 256);
    decodePage(bent);
  }
  assert.equal(decodePage(whole.subarray(0, 20)), undefined);
});
