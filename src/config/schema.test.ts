import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type FieldTable, flagOf, isList, variableOf } from "./field.ts";
import { SETTINGS, SITE_SETTINGS } from "./schema.ts";
import { defaultSettings } from "./sources.ts";
import { VERSION } from "./version.ts";

const table: FieldTable = SETTINGS;

test("every fallback can be read by its own reader", () => {
  const siteTable: FieldTable = SITE_SETTINGS;
  for (const [name, field] of [...Object.entries(table), ...Object.entries(siteTable)]) {
    if (field.fallback === undefined) continue;
    assert.notEqual(field.reader.read(field.fallback), undefined, `${name}: ${field.fallback}`);
  }
});

test("no two settings share a key, a flag or a variable", () => {
  for (const nameOf of [flagOf, variableOf]) {
    const names = Object.values(table).map(nameOf);
    assert.equal(new Set(names).size, names.length);
  }
});

test("flags and variables follow from the key", () => {
  assert.equal(flagOf(SETTINGS.concurrencyPerSite), "--concurrency-per-site");
  assert.equal(variableOf(SETTINGS.warcBytesMax), "WEIR_WARC_SIZE");
});

test("no reader accepts nonsense: negative, not a number, unitless, beyond reason, empty", () => {
  const anyText = new Set([
    "configFile",
    "seedsFile",
    "outFolder",
    "logFile",
    "include",
    "exclude",
    "userAgent",
    "speedsFile",
    "replicateFile",
    "referenceFolder",
    "topicsModel",
    "topic",
    "smallTopic",
    "crawlName",
    "nodeName",
    "natsCredentialsFile",
    "natsNkeyFile",
    "natsUser",
    "natsPassword",
    "natsToken",
    "natsCaFile",
    "natsCertFile",
    "natsKeyFile",
    "natsDomain",
    "caFile",
    "clientCertFile",
    "clientKeyFile",
    "dashboardHost",
  ]);
  for (const [name, field] of Object.entries(table)) {
    if (anyText.has(name)) continue;
    for (const text of ["-1", "NaN", "10 MBs", "1e99", "", " ", "Infinity", "5x", "1\n2"])
      assert.equal(field.reader.read(text), undefined, `${name} took ${JSON.stringify(text)}`);
    assert.ok(!isList(field) || field.fallback === undefined, `${name}: a list starts empty`);
  }
});

test("the defaults are the ones the manual promises", () => {
  const settings = defaultSettings();
  assert.equal(settings.delayMs, undefined);
  assert.equal(settings.bodyBytesMax, 8 * 2 ** 20);
  assert.equal(settings.speedFloorBps, 1024);
  assert.equal(settings.scope, "site");
  assert.equal(settings.warc, true);
  assert.deepEqual(settings.include, []);
});

test("package.json has the same version", () => {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  assert.equal((manifest as { version: string }).version, VERSION);
});
