import assert from "node:assert/strict";
import { test } from "node:test";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { below, pick, randomFrom } from "../base/random.ts";
import { CODINGS_OFFERED, decodeBody } from "./decode.ts";

const CAP_BYTES = 16 * 1024 * 1024;
const PAGE = Buffer.from(
  "<html><p>The same words, and the same words again.</p></html>".repeat(40),
);

const CODERS: Readonly<Record<string, (body: Uint8Array) => Buffer>> = {
  gzip: (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (body) => zstdCompressSync(body),
};

test("each coding we offer is undone", async () => {
  for (const coding of CODINGS_OFFERED.split(", ")) {
    const coder = CODERS[coding];
    assert.ok(coder !== undefined, coding);
    await decodesTo(coder(PAGE), coding, PAGE);
  }
});

test("a body without a coding is handed on untouched", async () => {
  for (const none of [undefined, "", "identity", " , "]) {
    const decoded = await decodeBody(PAGE, none, CAP_BYTES);
    assert.ok(decoded.kind === "decoded" && decoded.body === PAGE);
  }
});

test("an empty body is empty, whatever it claims", async () => {
  await decodesTo(new Uint8Array(0), "gzip", Buffer.alloc(0));
});

test("raw deflate is accepted as well as zlib's", async () => {
  await decodesTo(deflateRawSync(PAGE), "deflate", PAGE);
});

test("codings come off in the opposite order, at most three", async () => {
  const three = gzipSync(deflateSync(zstdCompressSync(PAGE)));
  await decodesTo(three, "zstd, deflate, gzip", PAGE);
  await fails(gzipSync(three), "zstd, deflate, gzip, gzip", "bad_encoding");
  await fails(PAGE, Array.from({ length: 12 }, () => "gzip").join(","), "bad_encoding");
});

test("a quine is decoded once per coding named", async () => {
  const twice = gzipSync(gzipSync(PAGE));
  await decodesTo(twice, "gzip", gzipSync(PAGE));
});

test("gzip members are joined, padding after them is ignored, and rubbish refused", async () => {
  const members = Buffer.concat([gzipSync("one, "), gzipSync("two")]);
  await decodesTo(members, "gzip", Buffer.from("one, two"));
  await decodesTo(Buffer.concat([gzipSync(PAGE), Buffer.alloc(100)]), "x-gzip", PAGE);
  const dirty = Buffer.concat([gzipSync(PAGE), Buffer.from("rubbish")]);
  await fails(dirty, "gzip", "bad_encoding");
});

test("plain text that claims a coding is kept, and the fact told", async () => {
  for (const coding of ["gzip", "br", "zstd", "deflate"]) {
    const decoded = await decodeBody(PAGE, coding, CAP_BYTES);
    assert.ok(decoded.kind === "decoded" && decoded.fellBack, coding);
    assert.equal(Buffer.from(decoded.body).toString(), PAGE.toString());
  }
});

test("binary rubbish that claims a coding is refused", async () => {
  const rubbish = Buffer.from([0, 1, 2, 3, 250, 251, 252, 253]);
  for (const coding of ["gzip", "br", "zstd"]) await fails(rubbish, coding, "bad_encoding");
});

test("a coding we never offered is refused", async () => {
  await fails(PAGE, "foo", "bad_encoding");
  await fails(PAGE, "__proto__", "bad_encoding");
});

test("a stream cut short or with a wrong checksum is refused", async () => {
  const packed = gzipSync(PAGE);
  await fails(packed.subarray(0, packed.length - 20), "gzip", "bad_encoding");
  const wrong = Buffer.from(packed);
  wrong.writeUInt32LE(1, wrong.length - 8);
  await fails(wrong, "gzip", "bad_encoding");
});

test("a bomb stops at the cap, in every coding, at once or aside", async () => {
  const zeros = Buffer.alloc(64 * 1024 * 1024);
  for (const [coding, coder] of Object.entries(CODERS)) {
    const bomb = coder(zeros);
    await fails(bomb, coding, "body_too_large");
    const rssBefore = process.memoryUsage.rss();
    // Ten members make the gzip one large enough to be decoded aside.
    await fails(Buffer.concat(Array.from({ length: 10 }, () => bomb)), coding, "body_too_large");
    const risenBytes = process.memoryUsage.rss() - rssBefore;
    assert.ok(risenBytes < 64 * 1024 * 1024, `${coding}: memory rose by ${risenBytes}`);
  }
});

test("exactly the cap passes, one byte more does not", async () => {
  const cap = 100_000;
  const exact = Buffer.alloc(cap, "x");
  for (const [coding, coder] of Object.entries(CODERS)) {
    assert.equal((await decodeBody(coder(exact), coding, cap)).kind, "decoded", coding);
    await fails(coder(Buffer.alloc(cap + 1, "x")), coding, "body_too_large", cap);
  }
  await fails(Buffer.alloc(cap + 1, "x"), undefined, "body_too_large", cap);
});

test("a zstd window of gigabytes is refused without allocating it", async () => {
  // Magic, no single segment, window descriptor 0xa8: 2 GiB; then one raw block of 3 bytes.
  const frame = Buffer.from("28b52ffd00a81900006162630a", "hex");
  await fails(frame, "zstd", "bad_encoding");
});

test("any damage ends as a value, never as a throw", async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const [coding, coder] = pick(random, Object.entries(CODERS));
    const packed = Buffer.from(coder(PAGE));
    for (let flips = below(random, 6); flips >= 0; flips--)
      packed[below(random, packed.length)] = below(random, 256);
    const cut = packed.subarray(0, below(random, packed.length + 1));
    const decoded = await decodeBody(cut, coding, 10_000);
    const fine = decoded.kind === "failed" || decoded.body.length <= 10_000;
    assert.ok(fine, `seed ${seed}`);
  }
});

test("a small body that unfolds to more than 2 MiB leaves the event loop free", async () => {
  for (const [bytes, isAside] of [
    [1.9 * 2 ** 20, false],
    [3 * 2 ** 20, true],
  ] as const) {
    let turns = 0;
    const timer = setImmediate(() => (turns += 1));
    const decoded = await decodeBody(gzipSync(Buffer.alloc(bytes)), "gzip", 2 ** 24);
    clearImmediate(timer);
    assert.equal(decoded.kind === "decoded" && decoded.body.length, Math.floor(bytes));
    assert.equal(turns > 0, isAside);
  }
});

async function decodesTo(wire: Uint8Array, coding: string, expected: Buffer): Promise<void> {
  const decoded = await decodeBody(wire, coding, CAP_BYTES);
  assert.ok(decoded.kind === "decoded", `${coding}: ${JSON.stringify(decoded)}`);
  assert.equal(decoded.fellBack, false);
  assert.ok(expected.equals(decoded.body), coding);
}

async function fails(
  wire: Uint8Array,
  coding: string | undefined,
  reason: string,
  bytesMax = CAP_BYTES,
): Promise<void> {
  const decoded = await decodeBody(wire, coding, bytesMax);
  assert.equal(decoded.kind === "failed" ? decoded.reason : "decoded", reason, coding ?? "none");
}
