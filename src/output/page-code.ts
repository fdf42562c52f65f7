/**
 * The one prefix code in which pages are deflated, known beforehand.
 *
 * Deflate (RFC 1951) lets every block tell its own code. Making one for each page costs a second
 * pass and as much again as it gains: web pages use nearly the same symbols equally often. So this
 * code was counted once, over 1,700 pages of three collections, and its telling is a constant. On
 * other pages of these it is 2 to 4 % larger than a code of their own (`docs/decisions/004-warc.md`).
 *
 * Literals have at most 12 bits and distances 11, so that two literals, or a distance with its extra
 * bits, fit into one step of the writer.
 */

import { assert } from "../base/assert.ts";

export const MATCH_BYTES_MAX = 258;

/** Code lengths of the 286 literals and match lengths, one hexadecimal digit each. */
const LITERAL_LENGTHS =
  "ccccccccc97ccbcccccccccccccccccc496aca9988aa7667767777888888777ac9a8999aa9ca99aa9c988aaa" +
  "cccaaac8c5766476659856556a5556778799a9ccaccccccccccccccccccccccccccccccccccccccccccccccc" +
  "cccccccccccccccccccacccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc5566" +
  "76778788888998aaaaccba";
/** Code lengths of the 30 distances. */
const DISTANCE_LENGTHS = "a7bb98775655454445444545454556";

/** "The last block, in the code with these lengths", as it stands at the start of every stream. */
export const HEAD_BYTES: Uint8Array = Buffer.from(
  "ed3d07801b3772e989987c7aafa3752cddd9dc2597e52a49473e49b662c95674673b89ed5cc0dde12e745860" +
    "0d60c9a364254eefbdf7de7befd5e9bdf7de7befbd00bb5cf2784d3a97e46dfeeb482c309819cc0c068301",
  "hex",
);
/** The bits of the head that do not fill a byte, and how many they are. */
export const HEAD_REST = 22;
export const HEAD_REST_BITS = 5;

const END_OF_BLOCK = 256;

/** By byte: `code << 4 | bits`. All codes are bit-reversed, as deflate sends them. */
export const literalCodes = new Uint16Array(256);
/** By match length: `code with its extra bits << 5 | bits`. */
export const matchCodes = new Uint32Array(MATCH_BYTES_MAX + 1);
/** By distance - 1 where that is below 256, else by 256 + ((distance - 1) >> 7): the symbol. */
export const distanceSymbols = new Uint8Array(512);
/** By distance symbol: `code << 4 | bits`, how many extra bits follow, and what they count from. */
export const distanceCodes = new Uint16Array(DISTANCE_LENGTHS.length);
export const distanceExtraBits = new Uint8Array(DISTANCE_LENGTHS.length);
export const distanceBases = new Uint16Array(DISTANCE_LENGTHS.length);

const literalsAndLengths = canonicalCodes(LITERAL_LENGTHS);
export const END_CODE = literalsAndLengths[END_OF_BLOCK] as number;
literalCodes.set(literalsAndLengths.subarray(0, 256));
distanceCodes.set(canonicalCodes(DISTANCE_LENGTHS));
layMatchCodes();
layDistances();

/** RFC 1951, 3.2.2: codes of one length are consecutive, shorter ones before longer ones. */
function canonicalCodes(lengths: string): Uint16Array {
  const bitsOf = Array.from(lengths, (digit) => Number.parseInt(digit, 16));
  const codes = new Uint16Array(lengths.length);
  let code = 0;
  for (let bits = 1; bits <= 12; bits++, code <<= 1) {
    for (const [symbol, length] of bitsOf.entries())
      if (length === bits) codes[symbol] = (reversed(code++, bits) << 4) | bits;
  }
  assert(code === 1 << 13, "the code leaves no gap");
  return codes;
}

function reversed(code: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result = (result << 1) | ((code >>> bit) & 1);
  return result;
}

/** RFC 1951, 3.2.5: a length is a symbol and some extra bits; the longest has a symbol of its own. */
function layMatchCodes(): void {
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

function layDistances(): void {
  let far = 0;
  for (let symbol = 0; symbol < DISTANCE_LENGTHS.length; symbol++) {
    const extraBits = symbol < 4 ? 0 : (symbol >> 1) - 1;
    distanceExtraBits[symbol] = extraBits;
    distanceBases[symbol] = far;
    for (const end = far + (1 << extraBits); far < end; far++)
      distanceSymbols[far < 256 ? far : 256 + (far >> 7)] = symbol;
  }
}
