/**
 * Classifies the bytes of UTF-8 for splitting text into words: part of a word, end of a word, or
 * undecided without the next byte.
 *
 * Words are split as by Chung and Clarke, at white space and punctuation, in lower case and without
 * numbers, with three additions. Scripts without spaces (Chinese, Japanese, Thai and related ones) give one
 * term for each character; otherwise a page would be one long word. Case is folded in Latin-1,
 * Greek and Cyrillic too. U+FFFD, which stands for undecodable bytes, ends a word like a space.
 */

/** Ends a word. */
export const BREAK = 0;
/** Begins a character that needs its second byte to be classified, or a character reference. */
export const CLOSER = 1;

export const AMPERSAND = 0x26;

/** For each byte BREAK, CLOSER, or the byte as it is hashed into a word. */
export const FOLDED = new Uint8Array(256);
for (let letter = 0x61; letter <= 0x7a; letter++) FOLDED[letter] = FOLDED[letter - 0x20] = letter;
for (let byte = 0x80; byte <= 0xf4; byte++) FOLDED[byte] = byte;
for (const lead of [AMPERSAND, 0xc2, 0xc3, 0xce, 0xd0, 0xe0, 0xe1, 0xe2]) FOLDED[lead] = CLOSER;
for (let lead = 0xe3; lead <= 0xef; lead++) FOLDED[lead] = CLOSER;

/** Results of `judge`: the character ends words, is part of one, or is a word of its own. */
export const CHARACTER = { breaks: 0, joins: 1, alone: 2 } as const;

/** Classifies a character by its first two bytes. */
export function judge(lead: number, second: number): number {
  if (lead === 0xc2 || lead === 0xe2) return CHARACTER.breaks;
  if (lead === 0xc3) return second === 0x97 || second === 0xb7 ? CHARACTER.breaks : CHARACTER.joins;
  if (lead === 0xe0) return second >= 0xb8 && second <= 0xbb ? CHARACTER.alone : CHARACTER.joins;
  if (lead === 0xe1) return isKhmerOrBurmese(second) ? CHARACTER.alone : CHARACTER.joins;
  if (lead === 0xe3) return second === 0x80 ? CHARACTER.breaks : CHARACTER.alone;
  if (lead >= 0xe4 && lead <= 0xed) return CHARACTER.alone;
  if (lead === 0xee) return CHARACTER.breaks;
  if (lead === 0xef) return second >= 0xbb ? CHARACTER.breaks : CHARACTER.joins;
  return CHARACTER.joins;
}

function isKhmerOrBurmese(second: number): boolean {
  return second <= 0x82 || second === 0x9e || second === 0x9f;
}

/** A character of two bytes in lower case, the first byte in the upper eight bits. */
export function lowered(lead: number, second: number): number {
  if (lead === 0xc3 && second >= 0x80 && second <= 0x9e) return (lead << 8) | (second + 0x20);
  if (lead === 0xce && second >= 0x91 && second <= 0x9f) return (lead << 8) | (second + 0x20);
  if (lead === 0xce && second >= 0xa0 && second <= 0xa9) return 0xcf00 | (second - 0x20);
  if (lead === 0xd0 && second >= 0x90 && second <= 0x9f) return (lead << 8) | (second + 0x20);
  if (lead === 0xd0 && second >= 0xa0 && second <= 0xaf) return 0xd100 | (second - 0x20);
  if (lead === 0xd0 && second <= 0x8f) return 0xd100 | (second + 0x10);
  return (lead << 8) | second;
}

export function characterBytes(lead: number): number {
  if (lead < 0xc0) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}
