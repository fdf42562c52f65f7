/**
 * A setting: its name for users, its meaning, its default and the one way to read it.
 *
 * A reader takes text from any source, so a flag, a variable and a file mean the same. It returns
 * `undefined` for text that it does not accept; `expects` states what it accepts, with the range.
 */

export interface Reader<T> {
  /** As shown in `--help`: DURATION, SIZE, N; empty for a switch. */
  readonly placeholder: string;
  /** Ends the sentence "expects …". */
  readonly expects: string;
  readonly read: (text: string) => T | undefined;
  /** The reasons why `read` refuses a text, where they are more specific than `expects`. */
  readonly explain?: (text: string) => readonly string[];
}

export interface Field<T> {
  /** The name for users: `warcSize` in a file, `--warc-size`, `WEIR_WARC_SIZE`. */
  readonly key: string;
  readonly meaning: string;
  /** As a user would write it. Without one, `meaning` states the default. */
  readonly fallback?: string | undefined;
  readonly reader: Reader<T>;
  /** For a list: separates its items within one text. */
  readonly separator?: RegExp;
  /** The word `none` means no value, and removes the value of a weaker source. */
  readonly orNone?: true;
  /** The value of its flag when no readable value follows. */
  readonly alone?: string;
  /** Never shown, not even when it is invalid. */
  readonly secret?: true;
  /** Not allowed in a file or in the environment. */
  readonly flagOnly?: true;
}

export type FieldTable = Readonly<Record<string, Field<unknown>>>;

type ValueOf<F> = F extends { readonly reader: Reader<infer T> }
  ? F extends { readonly separator: RegExp }
    ? readonly T[]
    : F extends { readonly fallback: string }
      ? T
      : T | undefined
  : never;

/** The values of a table of fields. */
export type Resolved<Table extends FieldTable> = {
  readonly [Name in keyof Table]: ValueOf<Table[Name]>;
};

/** Ends the sentence "expects …". */
export function expectationOf({ reader, orNone }: Field<unknown>): string {
  return orNone === true ? `${reader.expects}, or none` : reader.expects;
}

export function flagOf(field: Field<unknown>): string {
  return `--${field.key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function variableOf(field: Field<unknown>): string {
  return `WEIR_${field.key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** A switch takes no value on the command line; `--no-` turns it off. */
export function isSwitch(field: Field<unknown>): boolean {
  return field.reader.placeholder === "";
}

export function isList(field: Field<unknown>): boolean {
  return field.separator !== undefined;
}
