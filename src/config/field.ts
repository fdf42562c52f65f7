/**
 * What a setting is: the name people write, its meaning, its fallback and the one way to read it.
 *
 * A reader takes text, wherever it came from, so a flag, a variable and a file mean the same. It
 * answers `undefined` for what it cannot accept, and `expects` says what it would have accepted,
 * range included, so that a refusal never has to be guessed at.
 */

export interface Reader<T> {
  /** As it stands in `--help`: DURATION, SIZE, N; empty for a switch. */
  readonly placeholder: string;
  /** Ends the sentence "expects …". */
  readonly expects: string;
  readonly read: (text: string) => T | undefined;
  /** What is wrong with a text that `read` refuses, where more can be said than what it expects. */
  readonly explain?: (text: string) => readonly string[];
}

export interface Field<T> {
  /** What people write: `warcSize` in a file, `--warc-size`, `WEIR_WARC_SIZE`. */
  readonly key: string;
  readonly meaning: string;
  /** As a person would write it. Without one, `meaning` says what holds by default. */
  readonly fallback?: string | undefined;
  readonly reader: Reader<T>;
  /** For a list: what separates its items when they come as one text. */
  readonly separator?: RegExp;
  /** The word `none` stands for no value, and takes back what an outweighed place said. */
  readonly orNone?: true;
  /** What its flag means alone, when nothing follows that it could read. */
  readonly alone?: string;
  /** Never shown back, not even when it is wrong. */
  readonly secret?: true;
  /** Makes no sense in a file or in the environment. */
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

/** The plain values that a table of fields comes to. */
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

/** A switch stands alone on the command line; `--no-` turns it off. */
export function isSwitch(field: Field<unknown>): boolean {
  return field.reader.placeholder === "";
}

export function isList(field: Field<unknown>): boolean {
  return field.separator !== undefined;
}
