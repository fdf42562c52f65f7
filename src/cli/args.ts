/** The arguments of a small command: positional ones and flags; all mistakes in one error. */

import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import type { FieldTable, Resolved } from "../config/field.ts";
import { readFlags } from "../config/flags.ts";
import { onOff } from "../config/readers.ts";
import { resolve } from "../config/resolve.ts";

export const JSON_FLAG = {
  json: { key: "json", meaning: "Print one JSON object.", fallback: "false", reader: onOff },
} as const satisfies FieldTable;

interface Args<Table extends FieldTable> {
  readonly positional: readonly string[];
  readonly flags: Resolved<Table>;
}

/**
 * `names` are the positional arguments in order; each is required, and more are a mistake. A last
 * name that ends in `…` may occur several times.
 */
export function readArgs<Table extends FieldTable>(
  words: readonly string[],
  names: readonly string[],
  table: Table,
): Args<Table> {
  const { positional, layer, mistakes } = readFlags(words, table);
  const resolved = resolve(table, [layer]);
  const all = [...mistakes, ...resolved.mistakes];
  for (const name of names.slice(positional.length)) all.push(`${name} is missing`);
  const isOpen = names.at(-1)?.endsWith("…") === true;
  for (const word of isOpen ? [] : positional.slice(names.length))
    all.push(`${JSON.stringify(visible(word, 80))} is one argument too many`);
  if (all.length > 0) throw new CrawlError("USAGE", all.join("\n  "));
  return { positional, flags: resolved.values };
}
