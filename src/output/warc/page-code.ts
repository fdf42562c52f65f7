/**
 * The fixed prefix code for deflating pages.
 *
 * Deflate (RFC 1951) allows a code per block. Computing one costs a second pass and gains little, because
 * symbol frequencies of web pages are similar. So this code was computed once from 1,700 pages of three
 * collections, and its header is a constant. On other pages of these collections the output is 2 to 4 %
 * larger than with individual codes (`docs/decisions/004-warc.md`).
 *
 * Literals have at most 12 bits and distances 11, so that two literals, or a distance with its extra
 * bits, fit into one step of the writer.
 */

import { assert } from "../../base/assert.ts";

export const MATCH_BYTES_MAX = 258;

/** Code lengths of the 286 literals and match lengths, one hexadecimal digit each. */
const LITERAL_LENGTHS =
  "ccccccccc97ccbcccccccccccccccccc496aca9988aa7667767777888888777ac9a8999aa9ca99aa9c988aaa" +
  "cccaaac8c5766476659856556a5556778799a9ccaccccccccccccccccccccccccccccccccccccccccccccccc" +
  "cccccccccccccccccccacccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc5566" +
  "76778788888998aaaaccba";
/** Code lengths of the 30 distances. */
const DISTANCE_LENGTHS = "a7bb98775655454445444545454556";

/** Start of every stream: the header of a last block with these code lengths. */
export const HEAD_BYTES: Uint8Array = Buffer.from(
  "ed3d07801b3772e989987c7aafa3752cddd9dc2597e52a49473e49b662c95674673b89ed5cc0dde12e745860" +
    "0d60c9a364254eefbdf7de7befd5e9bdf7de7befbd00bb5cf2784d3a97e46dfeeb482c309819cc0c068301",
  "hex",
);
/** The bits of the header that do not fill a byte. */
export const HEAD_REST = 22;
/** Number of bits in `HEAD_REST`. */
export const HEAD_REST_BITS = 5;

const END_OF_BLOCK = 256;

/** By byte: `code << 4 | bits`. All codes are bit-reversed, as deflate requires. */
export const literalCodes = new Uint16Array(256);
/** By match length: `code with its extra bits << 5 | bits`. */
export const matchCodes = new Uint32Array(MATCH_BYTES_MAX + 1);
/** The symbol by distance - 1 below 256, otherwise by 256 + ((distance - 1) >> 7). */
export const distanceSymbols = new Uint8Array(512);
/** By distance symbol: `code << 4 | bits`. */
export const distanceCodes = new Uint16Array(DISTANCE_LENGTHS.length);
/** By distance symbol: the number of extra bits. */
export const distanceExtraBits = new Uint8Array(DISTANCE_LENGTHS.length);
/** By distance symbol: the lowest distance - 1. */
export const distanceBases = new Uint16Array(DISTANCE_LENGTHS.length);

const literalsAndLengths = canonicalCodes(LITERAL_LENGTHS);
export const END_CODE = literalsAndLengths[END_OF_BLOCK] as number;
literalCodes.set(literalsAndLengths.subarray(0, 256));
distanceCodes.set(canonicalCodes(DISTANCE_LENGTHS));
fillMatchCodes();
fillDistances();

/** RFC 1951, 3.2.2: codes of equal length are consecutive, shorter codes are first. */
function canonicalCodes(lengths: string): Uint16Array {
  const bitsOf = Array.from(lengths, (digit) => Number.parseInt(digit, 16));
  const codes = new Uint16Array(lengths.length);
  let code = 0;
  for (let bits = 1; bits <= 12; bits++, code <<= 1) {
    for (const [symbol, length] of bitsOf.entries())
      if (length === bits) codes[symbol] = (reversed(code++, bits) << 4) | bits;
  }
  assert(code === 1 << 13, "the code is complete");
  return codes;
}

function reversed(code: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result = (result << 1) | ((code >>> bit) & 1);
  return result;
}

/** RFC 1951, 3.2.5: a length is a symbol and extra bits; the greatest has its own symbol. */
function fillMatchCodes(): void {
  let length = 3;
  for (let step = 0; step < 28; step++) {
    const extraBits = step < 8 ? 0 : (step >> 2) - 1;
    for (let extra = 0; extra < 1 << extraBits; extra++, length++)
      matchCodes[length] = withExtra(literalsAndLengths[257 + step] as number, extra, extraBits);
  }
  matchCodes[MATCH_BYTES_MAX] = withExtra(literalsAndLengths[285] as number, 0, 0);
}

function withExtra(packed: number, extra: number, extraBits: number): number {
  const bits = packed & 15;
  return (((extra << bits) | (packed >> 4)) << 5) | (bits + extraBits);
}

function fillDistances(): void {
  let far = 0;
  for (let symbol = 0; symbol < DISTANCE_LENGTHS.length; symbol++) {
    const extraBits = symbol < 4 ? 0 : (symbol >> 1) - 1;
    distanceExtraBits[symbol] = extraBits;
    distanceBases[symbol] = far;
    for (const end = far + (1 << extraBits); far < end; far++)
      distanceSymbols[far < 256 ? far : 256 + (far >> 7)] = symbol;
  }
}
