/**
 * The commands in the documents: every line of every `sh` block, and why some cannot be run by a test.
 *
 * A `yaml` block that begins with a comment with a file's name is that file.
 */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../cli/program.ts";

const PAGES = ["README.md", "examples/README.md", "docs/**/*.md"];
const BLOCK = /^( *)```(sh|yaml)\n([^]*?)^ *```/gm;

/** One page of documents, or one block of a page whose blocks have nothing to do with each other. */
export interface Chapter {
  readonly name: string;
  readonly lines: readonly string[];
  /** By name. */
  readonly files: ReadonlyMap<string, string>;
  /** Whether each line stands for itself. */
  readonly isLoose: boolean;
}

/** Lines that no test can run, or should. */
export const NOT_RUN: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /--nats\b|^nats-server -js|^(openssl|printf|export)\b/,
    "needs others beside it: cluster.test.ts",
  ],
  [/^(install|nats-server -t)\b/, "changes the machine"],
  [/^ssh\b/, "needs another machine"],
];

export function chapters(): Chapter[] {
  return globSync(PAGES, { cwd: ROOT })
    .toSorted()
    .flatMap((page) => {
      const text = readFileSync(join(ROOT, page), "utf8");
      const blocks = [...text.matchAll(BLOCK)].map(([, indent = "", kind, inside = ""]) => ({
        kind,
        text: inside.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      }));
      const files = new Map(
        blocks
          .filter(({ kind }) => kind === "yaml")
          .map(({ text: file }) => [/^# ([\w-]+\.yaml)\n/.exec(file)?.[1] ?? "", file]),
      );
      const scripts = blocks
        .filter(({ kind }) => kind === "sh")
        .map((block) => linesIn(block.text));
      const isLoose = page === "docs/commands.md";
      return (isLoose ? scripts : [scripts.flat()])
        .filter((lines) => lines.length > 0)
        .map((lines) => ({ name: page, lines, files, isLoose }));
    });
}

/** As the shell sees them, without what follows a # and without the path to the program. */
function linesIn(script: string): string[] {
  return script
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/(^|\s+)#.*$/, "").replace(/^(\.|\/opt\/weir)\/weir\b/, "weir"))
    .filter((line) => line !== "");
}

export function whyNotRun(line: string): string | undefined {
  return NOT_RUN.find(([pattern]) => pattern.test(line))?.[1];
}
