/**
 * Encodes free names as single tokens of a NATS subject, a stream's or a consumer's name.
 *
 * Names of crawls and nodes are free text; a dot, a star or a space in a subject would address other nodes. Letters,
 * digits and hyphens stay as they are, every other byte of UTF-8 becomes `_xx`, so different names have different tokens.
 * A name too long for a file name keeps its beginning and gets a digest; `_h` does not result from the rule before.
 */

import { createHash } from "node:crypto";
import { assert } from "../../base/assert.ts";

/** Stream names become folders of the server, which allows 255 characters with its additions. */
const TOKEN_CHARACTERS_MAX = 100;
const HEAD_CHARACTERS = 50;
const DIGEST_CHARACTERS = 43;

export function subjectToken(name: string): string {
  assert(name !== "", "a name has a character");
  const token = Array.from(Buffer.from(name), encodedByte).join("");
  if (token.length <= TOKEN_CHARACTERS_MAX) return token;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST_CHARACTERS);
  return `${token.slice(0, HEAD_CHARACTERS)}_h${digest}`;
}

function encodedByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9-]/.test(character) ? character : `_${byte.toString(16).padStart(2, "0")}`;
}
