/**
 * Messages between processes. Promises: whatever arrives is a valid message or none; a valid one is within its bounds and
 * survives being sent again; parcels and control messages likewise.
 */

import assert from "node:assert/strict";
import { below, type Random } from "../../src/base/random.ts";
import { messageIn } from "../../src/cluster/message-checks.ts";
import { MessageJoiner, textsOf } from "../../src/exchange/control-pieces.ts";
import { pack, unpack } from "../../src/exchange/packing.ts";
import type { PageMessage } from "../../src/exchange/page-message.ts";
import { decodePeerMessage, encodePeerMessage } from "../../src/exchange/peer-message.ts";
import type { UrlMessage } from "../../src/exchange/url-message.ts";
import type { Target } from "./target.ts";

const ROUTE = { from: "a", to: "b" };
const HEARD = { kind: "heard", leader: 0, grant: 3 };
const REFUSAL = { kind: "refusal", life: "x", why: "y" };
const LICENCE = {
  kind: "licence",
  answers: 1_000,
  forMs: 3_000,
  leader: 0,
  term: 1,
  grant: 1,
  limitBps: null,
  wholeBps: 5e5,
  pagesMax: 10,
  division: {
    epoch: 1,
    bucketCount: 64,
    names: ["a", "b"],
    owners: ["AAAA"],
    handing: [{ from: "a", epoch: 1 }],
    handed: [],
    losses: [1],
    lost: [],
    formers: [],
    formerly: [],
    members: ["a"],
    left: [],
  },
  wave: 1,
  granted: [{ key: "site https://a.example", wish: 1, afterMs: 0 }],
  recalled: [],
  popular: [[1, 2]],
  held: "",
  changes: [{ id: "a", key: "limit", value: "1MB/s", number: 1, message: "" }],
  outcomes: [
    { id: "a", isRefused: false, message: "", processes: 2, missing: 0, missingNames: [] },
  ],
  end: "no",
  why: "",
};

function checkControl(input: Uint8Array): string {
  const text = Buffer.from(input).toString("utf8");
  const joiner = new MessageJoiner();
  const direct = joiner.add(ROUTE, text);
  if (direct !== undefined) messageIn(direct);
  // With the right checksum, so that the schema is reached.
  const value = parsed(text);
  if (value === undefined) return direct === undefined ? "piece" : "junk";
  const texts = textsOf(ROUTE, value);
  let arrived;
  for (const one of texts) arrived = joiner.add(ROUTE, one);
  if (texts.length > 0) assert.deepEqual(arrived, JSON.parse(JSON.stringify(value)));
  const message = messageIn(value);
  if (typeof message === "string") {
    assert.ok(message.length <= 1_000, "the name of a field is bounded");
    return `refused ${message.replaceAll(/\d+/g, "n")}`;
  }
  return `${message.kind} ${texts.length}`;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

export const BUS: Target = {
  name: "bus",
  samples: [
    ...[HEARD, REFUSAL, LICENCE].map((message) => Buffer.from(JSON.stringify(message))),
    ...textsOf(ROUTE, LICENCE).map((text) => Buffer.from(text)),
    Buffer.from("~abc 0 2 AAAA"),
  ],
  words: [
    ...Object.keys(LICENCE).map((key) => `,"${key}":`),
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "null",
    "true",
    "-1",
    "1e309",
    "281474976710656",
    '"__proto__":',
    '"kind":"look"',
    "[]",
    "{}",
    '"kind":"report"',
    '"kind":"known"',
    "~",
    "~a 0 1 ",
    "\\u0000",
    "0.5",
    "1e-300",
    '"a"',
    "[[1,2]]",
    '{"key":"k","wish":1}',
    "[".repeat(3_000),
    `"${"x".repeat(5_000)}"`,
  ],
  inputBytesMax: 64 * 1024,
  inputsPerTest: 25_000,
  check: checkControl,
};

const URLS: UrlMessage = {
  kind: "urls",
  epoch: 7,
  urls: [
    { url: "https://h.example/a", depth: 3, redirects: 1, links: 12, score: -2.5 },
    {
      url: "https://h.example/~b",
      written: "https://h.example/%7Eb",
      depth: 0,
      redirects: 0,
      links: 0,
      score: 0,
    },
  ],
};
const PAGE: PageMessage = {
  kind: "page",
  epoch: 3,
  bucket: 7,
  page: {
    url: "https://h.example/a",
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
    headers: [["content-encoding", "gzip"]],
    contentType: "text/html",
    etag: "",
    lastModified: "",
    remarks: ["noindex"],
    body: Buffer.from("<p>body"),
  },
};

function checkPeer(input: Uint8Array, random: Random): string {
  const parcel = unpack(input);
  if (parcel !== undefined) {
    assert.deepEqual(unpack(pack(parcel)), parcel, "packed again, a parcel differs");
    for (const { part, parts } of parcel.messages) assert.ok(part < parts);
  }
  const message = decodePeerMessage(input);
  if (message === undefined)
    return parcel === undefined ? "none" : `parcel ${parcel.messages.length}`;
  const again = decodePeerMessage(encodePeerMessage(message));
  assert.deepEqual(again, message, "sent again, a message differs");
  const sent = pack({
    sender: "s",
    floor: 0,
    messages: [{ seq: below(random, 9), body: input, part: 0, parts: 1 }],
  });
  assert.equal(unpack(sent)?.messages.length, 1);
  return message.kind === "page" ? "page" : `${message.kind} ${message.urls.length}`;
}

const plainPage = Buffer.from(encodePeerMessage(PAGE));

export const PAGES: Target = {
  name: "parcels",
  samples: [
    encodePeerMessage(URLS),
    encodePeerMessage({ ...URLS, urls: [] }),
    plainPage,
    encodePeerMessage({ ...PAGE, page: { ...PAGE.page, headers: [] } }),
    pack({
      sender: "s",
      floor: 1,
      messages: [{ seq: 2, body: encodePeerMessage(URLS), part: 0, parts: 1 }],
    }),
  ],
  words: [
    "WL\x01",
    "WP\x01\x00",
    "WP\x01\x01",
    '"url":"',
    '"depth":',
    '"headers":[',
    "null",
    "1e309",
    "-1",
    '"__proto__":{',
    "[]",
    "{}",
    Buffer.from([0, 0, 0, 1]),
    Buffer.from([0xff, 0xff, 0xff, 0xff]),
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
    Buffer.from([0x7f, 0xf0, 0, 0, 0, 0, 0, 0]),
  ],
  inputBytesMax: 64 * 1024,
  inputsPerTest: 40_000,
  check: checkPeer,
};
