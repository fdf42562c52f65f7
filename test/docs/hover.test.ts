import assert from "node:assert/strict";
import { test } from "node:test";
import { type FieldTable, flagOf, variableOf } from "../../src/config/field.ts";
import { SETTINGS, SITE_SETTINGS } from "../../src/config/schema.ts";
import { temporaryFolder } from "../cli/program.ts";
import { errorsIn, FROM_SOURCES, hoverTexts } from "./editor.ts";

const OWN = ["urls", "signal", "log", "onPage", "onLink", "score", "onDeadline"];

test("an editor shows for every option what it means, its unit, and its other names", async () => {
  const names = [...OWN, ...Object.keys(SETTINGS)];
  const program = programWith(`{ ${names.map((name) => `${name}: anything`).join(", ")} }`);
  using folder = temporaryFolder();
  assert.deepEqual(errorsIn(folder.path, { "use.ts": program }, FROM_SOURCES), []);
  const texts = await hoverTexts(folder.path, program, names, FROM_SOURCES);
  for (const name of OWN) assert.match(texts.get(name) ?? "", /```\n./, name);
  const limit = texts.get("limitBps")?.replaceAll(/\s+/g, " ") ?? "";
  assert.match(limit, /Most bytes received per second .* A number in bytes per second\./);
  for (const [name, field] of Object.entries<FieldTable[string]>(SETTINGS)) {
    const text = texts.get(name) ?? "";
    assert.ok(text.includes(flagOf(field)), `${name}: ${text}`);
    if (field.flagOnly === true || name === "outFolder") continue;
    assert.ok(text.includes(`\`${field.key}\``), `${name}: ${text}`);
    assert.ok(text.includes(variableOf(field)), `${name}: ${text}`);
  }
});

test("an editor shows what the options of a site mean", async () => {
  const names = Object.keys(SITE_SETTINGS);
  const site = `{ ${names.map((name) => `${name}: anything`).join(", ")} }`;
  const program = programWith(`{ urls: [], sites: [${site}] }`);
  using folder = temporaryFolder();
  assert.deepEqual(errorsIn(folder.path, { "use.ts": program }, FROM_SOURCES), []);
  const texts = await hoverTexts(folder.path, program, names, FROM_SOURCES);
  for (const name of names) assert.match(texts.get(name) ?? "", /```\n./, name);
});

function programWith(options: string): string {
  return `import { crawl } from "weir";\ndeclare const anything: never;\ncrawl(${options});\n`;
}
