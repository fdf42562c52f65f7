/** B5, B6, B8, B11 and B14: bodies that unfold, never end or lie about their size, and odd pages. */

import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { every } from "../../src/base/patient-clock.suite.ts";
import { answer, type Ending, failed, floods, type Row, says } from "./row.ts";

const PAGE = "<html><title>Page</title><p>words and words</p></html>";
const ZEROS = Buffer.alloc(100 * 1024 * 1024);
const PAGE_WHOLE: Ending = { kind: "page", bodyBytes: PAGE.length };

/** The body cap that the rows about sizes are written for. */
export const HOSTILE_BODY_BYTES_MAX = 1024 * 1024;

function coded(coding: string, body: string | Buffer): Pick<Row, "onRequest"> {
  return says(answer("200 OK", `Content-Type: text/html\r\nContent-Encoding: ${coding}\r\n`, body));
}

function damaged(packed: Buffer): Buffer {
  const wrong = Buffer.from(packed);
  wrong.writeUInt32LE(1, wrong.length - 8);
  return wrong;
}

export const CODING_ROWS: readonly Row[] = [
  { id: "Z0a", does: "packs a page with gzip", ends: PAGE_WHOLE, ...coded("gzip", gzipSync(PAGE)) },
  {
    id: "Z0b",
    does: "packs a page with br",
    ends: PAGE_WHOLE,
    ...coded("br", brotliCompressSync(PAGE)),
  },
  {
    id: "Z0c",
    does: "packs a page with zstd",
    ends: PAGE_WHOLE,
    ...coded("zstd", zstdCompressSync(PAGE)),
  },
  {
    id: "Z1",
    does: "sends a gzip bomb",
    ends: failed("body_too_large"),
    ...coded("gzip", gzipSync(ZEROS)),
  },
  {
    id: "Z1b",
    does: "sends a gzip bomb in a gzip bomb",
    ends: failed("body_too_large"),
    ...coded("gzip, gzip", gzipSync(gzipSync(ZEROS))),
  },
  {
    id: "Z2",
    does: "sends a brotli bomb",
    ends: failed("body_too_large"),
    ...coded("br", brotliCompressSync(ZEROS)),
  },
  {
    id: "Z2b",
    does: "sends a zstd bomb",
    ends: failed("body_too_large"),
    ...coded("zstd", zstdCompressSync(ZEROS)),
  },
  {
    id: "Z3",
    does: "sends zstd that needs a window of 2 GiB",
    ends: failed("bad_encoding"),
    ...coded("zstd", Buffer.from("28b52ffd00a81900006162630a", "hex")),
  },
  {
    id: "Z4",
    does: "names gzip twelve times",
    ends: failed("bad_encoding"),
    ...coded(Array.from({ length: 12 }, () => "gzip").join(", "), gzipSync(PAGE)),
  },
  {
    id: "Z5",
    does: "says gzip and sends plain text",
    ends: { kind: "page", remark: "encoding_fallback", bodyBytes: PAGE.length },
    ...coded("gzip", PAGE),
  },
  {
    id: "Z5b",
    does: "says gzip and sends rubbish",
    ends: failed("bad_encoding"),
    ...coded("gzip", Buffer.from([0, 1, 2, 3, 200, 201, 202])),
  },
  {
    id: "Z6",
    does: "sends half of a gzip stream",
    ends: failed("bad_encoding"),
    ...coded("gzip", gzipSync(PAGE).subarray(0, 40)),
  },
  {
    id: "Z6b",
    does: "sends gzip with a wrong checksum",
    ends: failed("bad_encoding"),
    ...coded("gzip", damaged(gzipSync(PAGE))),
  },
  {
    id: "Z7",
    does: "sends rubbish behind the gzip stream",
    ends: failed("bad_encoding"),
    ...coded("gzip", Buffer.concat([gzipSync(PAGE), Buffer.from("rubbish")])),
  },
  {
    id: "Z7c",
    does: "sends zeros behind the gzip stream",
    ends: PAGE_WHOLE,
    ...coded("gzip", Buffer.concat([gzipSync(PAGE), Buffer.alloc(20)])),
  },
  {
    id: "Z7b",
    does: "sends two gzip streams in a row",
    ends: { kind: "page", bodyBytes: 2 * PAGE.length },
    ...coded("gzip", Buffer.concat([gzipSync(PAGE), gzipSync(PAGE)])),
  },
  {
    id: "Z8",
    does: "names a coding nobody knows",
    ends: failed("bad_encoding"),
    ...coded("foo", PAGE),
  },
  {
    id: "Z9a",
    does: "sends deflate with wrapping",
    ends: PAGE_WHOLE,
    ...coded("deflate", deflateSync(PAGE)),
  },
  {
    id: "Z9b",
    does: "sends deflate without wrapping",
    ends: PAGE_WHOLE,
    ...coded("deflate", deflateRawSync(PAGE)),
  },
  {
    id: "Z11",
    does: "sends gzip whose content is gzip",
    ends: { kind: "page", bodyBytes: gzipSync(PAGE).length },
    ...coded("gzip", gzipSync(gzipSync(PAGE))),
  },
];

const CAP = HOSTILE_BODY_BYTES_MAX;
const BLOCK = Buffer.alloc(65_536, "x");

export const SIZE_ROWS: readonly Row[] = [
  {
    id: "X1",
    does: "sends a body without end at full speed",
    ends: failed("body_too_large"),
    receivedBytesMax: CAP + 512 * 1024,
    ...floods("HTTP/1.1 200 OK\r\n\r\n", BLOCK),
  },
  {
    id: "X2",
    does: "sends a body without end, a little above the speed floor",
    ends: failed("total_timeout"),
    onRequest({ socket }) {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const stop = every(50, () => socket.write(BLOCK.subarray(0, 512)));
      socket.once("close", stop);
    },
  },
  {
    id: "X3",
    does: "announces 10 GB",
    ends: failed("body_too_large"),
    receivedBytesMax: 256 * 1024,
    ...floods("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", BLOCK),
  },
  {
    id: "X4",
    does: "sends exactly the cap",
    ends: { kind: "page", bodyBytes: CAP },
    ...says(answer("200 OK", "", Buffer.alloc(CAP, "x"))),
  },
  {
    id: "X4b",
    does: "sends the cap and one byte, without saying so before",
    ends: failed("body_too_large"),
    onRequest({ socket }) {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.end(Buffer.alloc(CAP + 1, "x"));
    },
  },
  {
    id: "X7",
    does: "sets a hundred cookies of 600 bytes",
    ends: { kind: "page" },
    ...says(answer("200 OK", `Set-Cookie: ${"c".repeat(600)}=1\r\n`.repeat(100), PAGE)),
  },
  {
    id: "X8",
    does: "sends an ETag of 60,000 bytes",
    ends: { kind: "page" },
    ...says(answer("200 OK", `ETag: "${"e".repeat(60_000)}"\r\n`, PAGE)),
  },
];

function html(body: string | Buffer): Pick<Row, "onRequest"> {
  return says(answer("200 OK", "Content-Type: text/html\r\n", body));
}

/** These fetch well; what they do to a parser is seen when a whole crawl meets them. */
export const PAGE_ROWS: readonly Row[] = [
  {
    id: "M1",
    does: "declares a charset that does not exist",
    ends: { kind: "page" },
    ...says(answer("200 OK", `Content-Type: text/html; charset=${"x".repeat(5000)}\r\n`, PAGE)),
  },
  {
    id: "M4",
    does: "nests 100,000 elements",
    ends: { kind: "page" },
    ...html("<div>".repeat(100_000)),
  },
  {
    id: "M5",
    does: "writes an attribute of 900 KB",
    ends: { kind: "page" },
    ...html(`<a title="${"x".repeat(900_000)}" href="/x">`),
  },
  {
    id: "M6",
    does: "writes 50,000 links",
    ends: { kind: "page" },
    ...html(Array.from({ length: 50_000 }, (_, index) => `<a href=/${index}>`).join("")),
  },
  {
    id: "M7",
    does: "never closes a comment",
    ends: { kind: "page" },
    ...html(`${PAGE}<!-- and on`),
  },
  {
    id: "M9",
    does: "writes NUL bytes into a page",
    ends: { kind: "page" },
    ...html(`${PAGE}\0\0<p>\0`),
  },
  {
    id: "M10",
    does: "sends a zip file as a page",
    ends: { kind: "page" },
    ...html(Buffer.from("504b030414000000080000002100", "hex")),
  },
  {
    id: "M13",
    does: "writes a title of 900 KB with escapes",
    ends: { kind: "page" },
    ...html(`<title>${"\x1b]0;x\x07".repeat(150_000)}</title>`),
  },
];
