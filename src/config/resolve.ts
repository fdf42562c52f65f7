/**
 * Turns texts from several sources into values; a later layer overrides an earlier one.
 *
 * Texts of all layers are read, also those that a later layer overrides, so that all mistakes are
 * reported at once and an invalid line in a file does not stay unnoticed until the flag is removed.
 */

import { visible } from "../base/visible.ts";
import { withoutCredentials } from "../url/credentials.ts";
import { expectationOf, type Field, type FieldTable, isList, type Resolved } from "./field.ts";

/** The texts of one source by the name of the field, in the order written. */
export interface Layer {
  /** The name of a field there: `--delay`, `WEIR_DELAY`, `delay (weir.yaml, line 3)`. */
  readonly nameOf: (name: string, field: Field<unknown>) => string;
  readonly given: ReadonlyMap<string, readonly string[]>;
}

export interface Resolution<Table extends FieldTable> {
  readonly values: Resolved<Table>;
  readonly mistakes: readonly string[];
}

export function resolve<Table extends FieldTable>(
  table: Table,
  layers: readonly Layer[],
): Resolution<Table> {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [name, field] of Object.entries(table)) {
    values[name] = fallbackOf(field);
    for (const layer of layers) {
      const texts = layer.given.get(name);
      if (texts === undefined) continue;
      const read = readAll(field, texts);
      if (read.refused === undefined) values[name] = read.value;
      else mistakes.push(...refusalsOf(layer.nameOf(name, field), field, read.refused));
    }
  }
  // The table's own readers made all values, so they have the table's type.
  return { values: values as Resolved<Table>, mistakes };
}

export function defaultsOf<Table extends FieldTable>(table: Table): Resolved<Table> {
  return resolve(table, []).values;
}

/** The value of one text, undefined for `none`, or the reasons for refusing it. */
export function readOne<T>(
  place: string,
  field: Field<T>,
  text: string,
): { readonly value: T | undefined; readonly mistakes: readonly string[] } {
  const read = readAll(field, [text]);
  return read.refused === undefined
    ? { value: read.value as T | undefined, mistakes: [] }
    : { value: undefined, mistakes: refusalsOf(place, field, read.refused) };
}

function fallbackOf(field: Field<unknown>): unknown {
  if (isList(field)) return [];
  return field.fallback === undefined ? undefined : field.reader.read(field.fallback);
}

function readAll(
  field: Field<unknown>,
  texts: readonly string[],
): { readonly value?: unknown; readonly refused?: string } {
  const { separator } = field;
  if (separator === undefined) {
    const text = texts.at(-1) ?? "";
    if (field.orNone === true && text.trim() === "none") return { value: undefined };
    const value = field.reader.read(text);
    return value === undefined ? { refused: text } : { value };
  }
  const list: unknown[] = [];
  for (const text of texts.flatMap((part) => part.trim().split(separator))) {
    const value = field.reader.read(text);
    if (value === undefined) return { refused: text };
    list.push(value);
  }
  return { value: list };
}

function refusalsOf(place: string, field: Field<unknown>, text: string): string[] {
  const shown =
    field.secret === true ? "" : ` ${JSON.stringify(visible(withoutCredentials(text), 80))}`;
  const reasons = field.reader.explain?.(text) ?? [`expects ${expectationOf(field)}`];
  return reasons.map((reason) => `${place}${shown}: ${visible(reason, 500)}`);
}
