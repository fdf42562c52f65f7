/** Numbers for the element and attribute names that link extraction distinguishes. */

import { NameTable } from "./name-table.ts";

export const TAG = {
  other: 0,
  a: 1,
  area: 2,
  base: 3,
  link: 4,
  meta: 5,
  frame: 6,
  iframe: 7,
  img: 8,
  image: 9,
  source: 10,
  html: 11,
  script: 12,
  style: 13,
  title: 14,
  textarea: 15,
  xmp: 16,
  noembed: 17,
  noframes: 18,
  plaintext: 19,
  template: 20,
  svg: 21,
  math: 22,
  foreignobject: 23,
  desc: 24,
  mi: 25,
  mo: 26,
  mn: 27,
  ms: 28,
  mtext: 29,
  "annotation-xml": 30,
  font: 31,
  p: 32,
  br: 33,
} as const;

export const ATTRIBUTE = {
  href: 0,
  src: 1,
  rel: 2,
  name: 3,
  content: 4,
  "http-equiv": 5,
  srcset: 6,
  lang: 7,
  type: 8,
  encoding: 9,
  color: 10,
  face: 11,
  size: 12,
} as const;
export const ATTRIBUTE_COUNT = 13;

/** Inline elements, which do not interrupt the text. */
const INLINE =
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q s samp " +
  "small span strike strong sub sup time tt u var wbr";

/** Start tags that end SVG and MathML at any depth (HTML standard, 13.2.6.5). */
const BREAKOUTS =
  "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li " +
  "listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var";

/** Bytes that end a tag name: white space, `/` and `>`. */
export const ENDS_NAME = byteSet("\t\n\f\r />");
export const IS_SPACE = byteSet("\t\n\f\r ");

const inline = new Set(INLINE.split(" "));
const breakouts = new Set(BREAKOUTS.split(" "));
/** Numbered in the order of `TAG`, followed by those that are only inline or breakouts. */
const tagNames = [...new Set([...Object.keys(TAG), ...inline, ...breakouts])];
const inlineTags = Uint8Array.from(tagNames, (name) => (inline.has(name) ? 1 : 0));
const breakoutTags = Uint8Array.from(tagNames, (name) => (breakouts.has(name) ? 1 : 0));

export const TAG_TABLE = new NameTable(tagNames, TAG.other);
export const ATTRIBUTE_TABLE = new NameTable(Object.keys(ATTRIBUTE), -1);

export function isInline(tag: number): boolean {
  return inlineTags[tag] === 1;
}

export function isBreakout(tag: number): boolean {
  return breakoutTags[tag] === 1;
}

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) set[byte] = 1;
  return set;
}
