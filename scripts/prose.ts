/** Rules for prose in Markdown: the width of lines, and words to avoid. */

import { wrapped } from "../src/cli/help.ts";

export const COLUMNS_MAX = 120;
/** Words that a plainer one replaces: see the house rules in CONTRIBUTING.md. */
const BANNED = /\b(nobody|whoever|whosoever|somebody|anew|beforehand|told)\b/i;

/** Text that is no Markdown yet: a placeholder such as <first site> would read as a tag. */
export function asMarkdown(text: string): string {
  return text.replaceAll(/(`[^`]*`)|</g, (found, code?: string) => code ?? `\\${found}`);
}

/** A paragraph in lines of at most 120 characters; all but the first are indented. */
export function filled(text: string, indent = ""): string {
  return wrapped(text, COLUMNS_MAX - indent.length).join(`\n${indent}`);
}

export function bannedWordIn(text: string): string | undefined {
  return BANNED.exec(text)?.[1];
}

/** Lines of prose with their numbers; code, tables, headings, pictures and HTML are none. */
export function* proseLines(text: string): Generator<[number: number, line: string]> {
  let isCode = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    else if (!isCode && !/^\s*(\||#|<|!\[)/.test(line)) yield [index + 1, line];
  }
}
