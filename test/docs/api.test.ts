import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, run, temporaryFolder } from "../cli/program.ts";
import { errorsIn, FROM_SOURCES } from "./editor.ts";

const PAGES = ["docs/api/*.md", "docs/guides/library.md"];

/** Every example of the pages, which begins with its imports, by a name for a file. */
function examples(): Record<string, string> {
  const found = globSync(PAGES, { cwd: ROOT }).flatMap((page) => {
    const blocks = readFileSync(join(ROOT, page), "utf8").matchAll(/^```ts\n(import [^]*?)^```/gm);
    return Array.from(blocks, ([, code = ""], index) => {
      const name = `${page.replaceAll(/[^a-z]+/g, "-")}-${index + 1}.ts`;
      return [name, code];
    });
  });
  return Object.fromEntries(found) as Record<string, string>;
}

test("every example of the API pages is a program without errors", () => {
  const programs = examples();
  assert.ok(Object.keys(programs).length > 30, `${Object.keys(programs).length} examples`);
  using folder = temporaryFolder();
  assert.deepEqual(errorsIn(folder.path, programs, FROM_SOURCES), []);
});

test("the examples of the lab, which need no network, run", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
  const names: string[] = [];
  for (const [name, code] of Object.entries(examples())) {
    if (!name.startsWith("docs-api-lab")) continue;
    const text = Object.entries(FROM_SOURCES).reduce(
      (sum, [module, [path = ""]]) => sum.replaceAll(`from "${module}"`, `from "${path}"`),
      code,
    );
    writeFileSync(join(folder.path, name), text);
    names.push(name);
  }
  // One program, because most of an example's time is the start of Node.
  const all = join(folder.path, "all.ts");
  writeFileSync(all, names.map((name) => `await import("./${name}");\n`).join(""));
  const { code, stderr } = await run([all], { program: [process.execPath] });
  assert.equal(code, 0, stderr);
  assert.ok(names.length > 20, `${names.length} examples`);
});
