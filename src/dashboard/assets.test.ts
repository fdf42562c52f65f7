import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readAssets, SHARED_MODULES } from "./assets.ts";

const PAGE_BYTES_MAX = 300_000;
const SOURCES = fileURLToPath(new URL("..", import.meta.url));

/** What a served module imports, types aside: they are gone by then. */
function importsOf(path: string, text: string): string[] {
  const names = [...text.matchAll(/^\s*(?:import|export)\b[^"]*?from "([^"]+)"/gm)].map(
    ([, name]) => name ?? "",
  );
  return names.map((name) => normalize(join(dirname(path), name)));
}

function codeIn(body: Buffer): string {
  return body
    .toString()
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .trim();
}

test("the page and all it imports are served, and nothing that it does not need", () => {
  const assets = readAssets();
  const page = assets.get("")?.body.toString() ?? "";
  const wanted = [...page.matchAll(/(?:src|href)="(app\/[^"]+)"/g)].map(([, path]) => path ?? "");
  assert.ok(wanted.length >= 4);
  const reached = new Set<string>();
  while (wanted.length > 0) {
    const path = wanted.pop() as string;
    if (reached.has(path)) continue;
    reached.add(path);
    const asset = assets.get(path);
    assert.ok(asset !== undefined, `${path} is wanted and not served`);
    if (path.endsWith(".ts")) wanted.push(...importsOf(path, asset.body.toString()));
  }
  for (const name of SHARED_MODULES)
    assert.ok(reached.has(`app/${name}.ts`), `${name} is not used`);
  for (const [path, { body }] of assets)
    // A module of types alone is empty when served, and no module imports it.
    assert.ok(path === "" || reached.has(path) || codeIn(body) === "", `${path} is not needed`);
});

test("the page weighs less than 300 KB in all", () => {
  const bytes = [...readAssets().values()].reduce((sum, { body }) => sum + body.length, 0);
  assert.ok(bytes < PAGE_BYTES_MAX, `${bytes} bytes`);
});

test("no file of the page names another place, makes markup of text, or has style or script inline", () => {
  for (const [path, { body }] of readAssets()) {
    const text = body.toString().replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    const foreign = [...text.matchAll(/https?:\/\/[^\s"'`)\\]+/g)].map(([url]) => url);
    assert.deepEqual(
      foreign.filter((url) => url !== "http://www.w3.org/2000/svg"),
      [],
      path,
    );
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
      path,
    );
    assert.doesNotMatch(text, /<style|<script(?![^>]* src=)|\sstyle="|\son[a-z]+="/, path);
  }
});

test("a module is served without its types, and otherwise as it is written", () => {
  const written = readFileSync(`${SOURCES}base/units.ts`, "utf8");
  const served = readAssets().get("app/base/units.ts");
  assert.equal(served?.type, "text/javascript; charset=utf-8");
  assert.equal(served?.body.toString().split("\n").length, written.split("\n").length);
  assert.doesNotMatch(served?.body.toString() ?? "", /: number/);
});
