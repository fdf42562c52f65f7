/**
 * Generates the pages of docs/api/ from what the package exports: doc comments, declarations and examples.
 *
 * A comment `// page: Title` in src/index.ts or src/lab/lab.ts puts the exports below it on a page. Every export needs a
 * doc comment, and every function, class and constant an `@example`; test/docs/api.test.ts checks the examples.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asMarkdown, filled } from "./prose.ts";
import { anchorsOf } from "./site-pages.ts";

const MODULES = { weir: "index.ts", "weir/lab": "lab/lab.ts" };
const EMITTED = "node_modules/.cache/api";
const USERS_MAX = 4;

interface Export {
  readonly name: string;
  readonly page: string;
  /** Without the marks of the comment. */
  readonly about: string;
  readonly example: string;
  readonly declaration: string;
}

interface Page {
  readonly name: string;
  readonly title: string;
  readonly module: string;
  readonly exports: Export[];
}

/** By file. */
export function apiPages(made: string): Record<string, string> {
  const settings = ["--emitDeclarationOnly", "--outDir", EMITTED, "--incremental"];
  const cache = ["--tsBuildInfoFile", `${EMITTED}.tsbuildinfo`];
  const words = ["-p", "tsconfig.build.json", ...settings, ...cache];
  const { status, stdout } = spawnSync("node_modules/.bin/tsc", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the declarations of the package cannot be built:\n${stdout}`);
  const pages = Object.entries(MODULES).flatMap(([name, file]) => pagesOf(name, file));
  const links = linksTo(pages);
  const all = pages.flatMap((page) => page.exports);
  return Object.fromEntries(
    pages.map((page) => [`docs/api/${page.name}.md`, textOf(page, all, links, made)]),
  );
}

function pagesOf(module: string, file: string): Page[] {
  const pages: Page[] = [];
  const text = readFileSync(join("src", file), "utf8");
  const parts = /^\/\/ ([\w-]+): (.+)$|^export (?:type )?\{([^}]+)\} from "([^"]+)\.ts";$/gm;
  for (const [, name, title = "", names = "", from = ""] of text.matchAll(parts)) {
    if (name !== undefined) pages.push({ name, title, module, exports: [] });
    const page = pages.at(-1);
    if (name !== undefined || page === undefined) continue;
    const declared = readFileSync(join(EMITTED, dirname(file), `${from}.d.ts`), "utf8");
    for (const exported of names.split(",").map((word) => word.trim().replace(/^type /, "")))
      if (exported !== "") page.exports.push(exportOf(exported, page.name, declared));
  }
  return pages;
}

function exportOf(name: string, page: string, declared: string): Export {
  const start = new RegExp(
    `^export (?:declare )?(function|class|const|interface|type) ${name}\\b`,
    "m",
  );
  const found = start.exec(declared);
  if (found === null) throw new Error(`${name} is not declared where it is exported from`);
  const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\n$/.exec(declared.slice(0, found.index))?.[0] ?? "";
  const text = comment.replace(/\*\/\n$/, "").replaceAll(/^\s*\/?\*+ ?/gm, "");
  const [about = "", example = ""] = text.split("@example\n");
  if (about.trim() === "") throw new Error(`${name} has no doc comment`);
  const isValue = !["interface", "type"].includes(found[1] ?? "");
  if (isValue && example === "") throw new Error(`the doc comment of ${name} has no @example`);
  const declaration = declarationAt(declared.slice(found.index));
  return { name, page, about: about.trim(), example: example.trim(), declaration };
}

/** Up to its closing brace or semicolon, as one would write it in a program. */
function declarationAt(text: string): string {
  const lines: string[] = [];
  let depth = 0;
  for (const line of text.split("\n")) {
    lines.push(line);
    depth += (line.match(/[{(]/g)?.length ?? 0) - (line.match(/[})]/g)?.length ?? 0);
    if (depth === 0 && /[;}]$/.test(line)) break;
  }
  return lines
    .filter((line) => line.trim() !== "#private;")
    .map((line) => line.replace(/^(?: {4})+/, (indent) => " ".repeat(indent.length / 2)))
    .join("\n")
    .replace(/^export (declare )?/, "");
}

/** Where each export is described, as a link from another page of the folder. */
function linksTo(pages: readonly Page[]): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const { name: page, title, exports } of pages) {
    const [, ...anchors] = anchorsOf([title, ...exports.map(({ name }) => name)]);
    for (const [index, { name }] of exports.entries())
      links.set(name, `${page}.md#${anchors[index]}`);
  }
  return links;
}

function textOf(
  { name: page, title, module, exports }: Page,
  all: readonly Export[],
  links: ReadonlyMap<string, string>,
  made: string,
): string {
  const linkTo = (name: string): string =>
    `[\`${name}\`](${(links.get(name) ?? "").replace(`${page}.md`, "")})`;
  const prose = (text: string): string =>
    asMarkdown(text)
      .replaceAll(/\{@link ([\w.]+)\}/g, (_, name: string) =>
        links.has(name) ? linkTo(name) : `\`${name}\``,
      )
      .replaceAll(/(?<!`)docs\/(\w+)\.md/g, "[$1.md](../$1.md)");
  const parts = [
    `# ${title}`,
    made,
    filled(`\`from "${module}"\`: ${exports.map(({ name }) => linkTo(name)).join(", ")}.`),
  ];
  for (const entry of exports) {
    parts.push(`## \`${entry.name}\``, ...paragraphs(prose(entry.about)));
    parts.push(`\`\`\`ts\n${entry.declaration}\n\`\`\``);
    if (entry.example !== "") parts.push("Example:", `\`\`\`ts\n${entry.example}\n\`\`\``);
    else parts.push(filled(`Used by ${usersOf(entry, all).map(linkTo).join(", ")}.`));
  }
  return `${parts.join("\n\n")}\n`;
}

/** Exports whose declaration or example contains the name of another; functions and classes come first. */
function usersOf({ name }: Export, all: readonly Export[]): string[] {
  const word = new RegExp(`\\b${name}\\b`);
  const users = all.filter(({ name: other, declaration, example }) => {
    const code = declaration.replaceAll(/\/\*\*[^]*?\*\//g, "") + example;
    return other !== name && word.test(code);
  });
  if (users.length === 0) throw new Error(`${name} needs an @example: no other export uses it`);
  const first = users.toSorted((a, b) => Number(b.example !== "") - Number(a.example !== ""));
  return first.slice(0, USERS_MAX).map((user) => user.name);
}

function paragraphs(text: string): string[] {
  return text.split(/\n\n/).map((part) =>
    part
      .split(/\n(?=- )/)
      .map((item) => filled(item.replaceAll(/\n\s*/g, " "), item.startsWith("- ") ? "  " : ""))
      .join("\n"),
  );
}
