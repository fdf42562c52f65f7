/**
 * Spoilt copies of controls, from a seed: with one character changed, or with a field missing at any depth and a checksum
 * that fits, as from a node with other fields.
 */

import { assert } from "../base/assert.ts";
import { below, pick, type Random } from "../base/random.ts";
import type { ControlMessage } from "../exchange/bus.ts";
import { textsOf } from "../exchange/control-pieces.ts";
import type { SealedMessage } from "../exchange/sealing.ts";

export function spoiltMessage(random: Random, control: SealedMessage): SealedMessage {
  const isWhole = control.text.endsWith("}");
  const text =
    isWhole && random.next() < 0.5 ? withoutField(random, control) : altered(random, control);
  return { ...control, text };
}

function altered(random: Random, { text }: SealedMessage): string {
  const at = below(random, text.length);
  const character = String.fromCharCode(text.charCodeAt(at) ^ (1 << below(random, 6)));
  return `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
}

function withoutField(random: Random, { from, to, text }: SealedMessage): string {
  const control = JSON.parse(text.slice(text.indexOf(" ") + 1)) as ControlMessage;
  const records = recordsIn(control);
  const record = pick(random, records);
  delete record[pick(random, Object.keys(record))];
  const [copy] = textsOf({ from, to }, control);
  assert(copy !== undefined, "a control message that lost a field is not too long");
  return copy;
}

/** All that have fields, the control itself among them. */
function recordsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap((one) => recordsIn(one));
  const hasFields = !Array.isArray(value) && Object.keys(value).length > 0;
  return hasFields ? [value as Record<string, unknown>, ...inner] : inner;
}
