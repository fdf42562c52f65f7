/**
 * Reads the words of a command line by a table of fields: `--delay 2s`, `--delay=2s`, `--no-warc`.
 *
 * Nothing is guessed: an unknown flag or a missing value is a mistake, reported with the most
 * similar name. All words after `--` are positional.
 */

import { visible } from "../base/visible.ts";
import { expectationOf, type Field, type FieldTable, flagOf, isSwitch } from "./field.ts";
import { suggestion } from "./nearest.ts";
import { type Layer, readOne } from "./resolve.ts";

export interface Flags {
  readonly positional: readonly string[];
  readonly layer: Layer;
  readonly mistakes: readonly string[];
}

interface Known {
  readonly name: string;
  readonly field: Field<unknown>;
  /** Its value without text: a switch, or its negation. */
  readonly alone: "true" | "false" | undefined;
}

export function readFlags(words: readonly string[], table: FieldTable): Flags {
  const known = knownFlags(table);
  const positional: string[] = [];
  const mistakes: string[] = [];
  const given = new Map<string, string[]>();

  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") {
      positional.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      positional.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const flag = equals < 0 ? word : word.slice(0, equals);
    const meant = known.get(flag);
    if (meant === undefined) {
      mistakes.push(`${visible(flag, 80)} is unknown${suggestion(flag, [...known.keys()])}`);
      // The word after an unknown flag is most likely its value, so it is no second mistake.
      if (equals < 0 && isValue(words[index + 1]) && !looksLikeAddress(words[index + 1])) index++;
      continue;
    }
    let text = equals < 0 ? meant.alone : word.slice(equals + 1);
    if (text === undefined && takesNext(meant.field, words[index + 1])) text = words[++index];
    if (equals < 0) text ??= meant.field.alone;
    if (text === undefined) mistakes.push(`${flag} needs ${expectationOf(meant.field)}`);
    else given.set(meant.name, [...(given.get(meant.name) ?? []), negated(meant, equals, text)]);
  }
  return { positional, mistakes, layer: { given, nameOf: (_, field) => flagOf(field) } };
}

function knownFlags(table: FieldTable): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>();
  for (const [name, field] of Object.entries(table)) {
    const flag = flagOf(field);
    known.set(flag, { name, field, alone: isSwitch(field) ? "true" : undefined });
    if (isSwitch(field)) known.set(`--no-${flag.slice(2)}`, { name, field, alone: "false" });
  }
  return known;
}

/** `--no-warc=false` is odd but unambiguous. */
function negated(meant: Known, equals: number, text: string): string {
  if (equals < 0 || meant.alone !== "false") return text;
  return text === "true" ? "false" : text === "false" ? "true" : text;
}

/** A flag with an optional value takes only a word that it can read, because a URL may follow. */
function takesNext(field: Field<unknown>, word: string | undefined): boolean {
  if (!isValue(word) || field.alone === undefined) return isValue(word);
  return readOne("", field, word).mistakes.length === 0;
}

function isValue(word: string | undefined): word is string {
  return word !== undefined && !/^--?[A-Za-z]/.test(word);
}

function looksLikeAddress(word: string | undefined): boolean {
  return word !== undefined && word.includes("://");
}
