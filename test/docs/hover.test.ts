import assert from "node:assert/strict";
import { test } from "node:test";
import { type FieldTable, flagOf, variableOf } from "../../src/config/field.ts";
import { SETTINGS, SITE_SETTINGS } from "../../src/config/schema.ts";
import { temporaryFolder } from "../cli/program.ts";
import { FROM_SOURCES, openIn } from "./editor.ts";

const PROGRAM = `import { crawl } from "weir";
crawl({ urls: [], limitBps: 2e6, sites: [{ url: "https://example.org/", delayMs: 2000 }] });
`;

test("an editor shows for every option what it means, its unit, and its other names", () => {
  using folder = temporaryFolder();
  using project = openIn(folder.path, { "use.ts": PROGRAM }, FROM_SOURCES);
  const editor = project.editors.get("use.ts") ?? assert.fail();
  assert.deepEqual(editor.errors, []);
  const limit = editor.hover("{ urls", "limitBps").replaceAll(/\s+/g, " ");
  assert.match(
    limit,
    /^Most bytes received per second by the whole crawl.* A number in bytes per second\./,
  );
  for (const [name, field] of Object.entries<FieldTable[string]>(SETTINGS)) {
    const text = editor.hover("{ urls", name);
    assert.ok(text.includes(flagOf(field)), `${name}: ${text}`);
    if (field.flagOnly === true || name === "outFolder") continue;
    assert.ok(text.includes(`\`${field.key}\``), `${name}: ${text}`);
    assert.ok(text.includes(variableOf(field)), `${name}: ${text}`);
  }
  for (const name of Object.keys(SITE_SETTINGS))
    assert.notEqual(editor.hover("{ url:", name), "", name);
  for (const name of ["urls", "sites", "signal", "log", "onPage", "onLink", "score", "onDeadline"])
    assert.notEqual(editor.hover("{ urls", name), "", name);
});
