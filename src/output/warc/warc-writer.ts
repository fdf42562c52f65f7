/**
 * Turns captures into records, gathered in memory until they are written together.
 *
 * A capture is a request record and, behind it, its response or revisit record; so where the answer
 * ends the capture ends. Digests are SHA-256 in hexadecimal: warcio's checkers verify that form, and
 * the crawl has most of these sums already.
 */

import { hash, randomUUID } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { memberRoom, writeMember } from "./gzip.ts";
import type { Unpacked } from "./warc-parcel.ts";
import { isPacked, kindOf, recordHead, requestBlock, responseHead } from "./warc-record.ts";
import type { RecordType } from "./warc-record.ts";

const RECORD_END = "\r\n\r\n";
/** A record's own head is shorter, and so is the end of a record. */
const RECORD_HEAD_BYTES_MAX = 16_384;

const NOTHING = new Uint8Array(0);

/** One record to write: its contents, apart from those that are only known later. */
interface Block {
  readonly type: RecordType;
  readonly head: string;
  readonly body: Uint8Array;
  readonly payloadDigest: string | undefined;
  readonly packed: boolean;
}

export class WarcWriter {
  readonly #level: number;
  #text: Buffer = Buffer.allocUnsafeSlow(1 << 17);
  #out: Buffer = Buffer.allocUnsafeSlow(1 << 20);
  #end = 0;

  constructor(level: number) {
    this.#level = level;
  }

  /** The members not dropped yet; good until the next `add`. */
  get members(): Uint8Array {
    return this.#out.subarray(0, this.#end);
  }

  /** Forgets the first so many bytes of `members`. */
  drop(bytes: number): void {
    this.#out.copyWithin(0, bytes, this.#end);
    this.#end -= bytes;
  }

  /** Adds a finished record, such as a warcinfo. */
  addText(text: string): void {
    const bytes = Buffer.from(text);
    this.#makeRoom(bytes.length);
    this.#end = writeMember({ bytes, packedFrom: undefined }, this.#level, this.#out, this.#end);
  }

  /** Adds the records of a capture; answers how many bytes of it come before its answer. */
  add(capture: Unpacked): number {
    const start = this.#end;
    const kind = kindOf(capture);
    const answerId = randomUUID();
    if (capture.requestHead !== "") {
      this.#addRecord(capture, answerId, {
        type: "request",
        head: requestBlock(capture),
        body: NOTHING,
        payloadDigest: undefined,
        packed: false,
      });
    }
    const beforeAnswer = this.#end - start;
    this.#addRecord(capture, answerId, {
      type: kind === "response" ? "response" : "revisit",
      head: responseHead(capture, kind),
      body: kind === "response" ? capture.body : NOTHING,
      payloadDigest: kind === "not_modified" ? undefined : payloadDigest(capture),
      packed: isPacked(capture),
    });
    return beforeAnswer;
  }

  #addRecord(capture: Unpacked, answerId: string, block: Block): void {
    const encoding = encodingFor(block.head);
    const blockHeadBytes = Buffer.byteLength(block.head, encoding);
    const blockBytes = blockHeadBytes + block.body.length;
    this.#fitText(RECORD_HEAD_BYTES_MAX + blockBytes);
    // The block is laid down first, because the head before it tells its digest; the gap between
    // the head's end and the block is closed by writing the head right up against it.
    const blockAt = RECORD_HEAD_BYTES_MAX;
    // Straight into the text: buffers of their own, a few for each page, would outlive their use.
    this.#text.write(block.head, blockAt, encoding);
    this.#text.set(block.body, blockAt + blockHeadBytes);
    const blockEnd = blockAt + blockBytes;
    const isRequest = block.type === "request";
    const head = recordHead(capture, {
      type: block.type,
      id: isRequest ? randomUUID() : answerId,
      blockBytes,
      // A response's payload has a digest and its record a checksum: hashing the body twice buys nothing.
      blockDigest:
        block.type === "response"
          ? undefined
          : `sha256:${hash("sha256", this.#text.subarray(blockAt, blockEnd), "hex")}`,
      payloadDigest: block.payloadDigest,
      concurrentTo: isRequest ? answerId : undefined,
    });
    const headAt = blockAt - head.length;
    assert(headAt >= 0, "a record's head has room before its block");
    this.#text.write(head, headAt, "latin1");
    const end = blockEnd + this.#text.write(RECORD_END, blockEnd, "latin1");

    this.#makeRoom(end - headAt);
    const bytes = this.#text.subarray(headAt, end);
    const packedFrom = block.packed ? head.length + blockHeadBytes : undefined;
    this.#end = writeMember({ bytes, packedFrom }, this.#level, this.#out, this.#end);
  }

  #fitText(bytes: number): void {
    const needed = bytes + RECORD_END.length;
    if (this.#text.length < needed) this.#text = Buffer.allocUnsafeSlow(grown(needed));
  }

  #makeRoom(bytes: number): void {
    const needed = this.#end + memberRoom(bytes);
    if (this.#out.length >= needed) return;
    const larger = Buffer.allocUnsafeSlow(grown(needed));
    larger.set(this.members);
    this.#out = larger;
  }
}

function payloadDigest(capture: Unpacked): string {
  return `sha256:${capture.bodyDigestHex || hash("sha256", capture.body, "hex")}`;
}

/** Header bytes come as Latin-1 and go as they came; text beyond it has only UTF-8 to go in. */
function encodingFor(head: string): "latin1" | "utf8" {
  return /[^\u0000-\u00ff]/.test(head) ? "utf8" : "latin1";
}

function grown(bytes: number): number {
  return 2 ** Math.ceil(Math.log2(bytes));
}
