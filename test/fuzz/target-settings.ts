/**
 * Settings files. Promises: a file gives settings or mistakes, each mistake one printable line of bounded length that
 * names the file and quotes no password.
 */

import assert from "node:assert/strict";
import { readSettingsFile } from "../../src/config/file.ts";
import { resolve } from "../../src/config/resolve.ts";
import { SETTINGS } from "../../src/config/schema.ts";
import type { Target } from "./target.ts";

const LINE_LENGTH_MAX = 2_000;

function check(input: Uint8Array): string {
  const text = Buffer.from(input).toString("utf8");
  const file = readSettingsFile(text, "weir.yaml");
  const { mistakes } = resolve(SETTINGS, [file.layer]);
  for (const line of [...file.mistakes, ...file.faults, ...mistakes]) {
    assert.match(line, /^weir\.yaml/);
    assert.ok(line.length <= LINE_LENGTH_MAX, `a mistake of ${line.length} characters`);
    assert.match(line, /^[^\p{Cc}\u2028\u2029\u202e]*$/u, "a mistake is one printable line");
    assert.ok(!/:canary@/.test(line), "a mistake quotes a password");
  }
  const words = [...file.mistakes, ...mistakes]
    .slice(0, 3)
    .map((line) => line.replaceAll(/[^a-z ]/g, ""));
  return `${file.sites.length} ${file.layer.given.size} ${words.map((word) => word.slice(0, 30)).join()}`;
}

const KEYS = Object.values(SETTINGS).map(({ key }) => `\n${key}: `);

export const SETTINGS_FILE: Target = {
  name: "settings",
  samples: [
    "limit: 2MB/s\nscope: site\nseeds: [http://h.example/, https://i.example]\nsites:\n  - url: http://h.example/\n    deadline: 2h\n",
    "proxy: http://user:canary@p.example:3128\nuser-agent: 'a b'\n# c\nexclude: ['*.zip']\ncalendar: |\n  a\n",
    "sites:\n  - http://user:canary@h.example/\n  - url: x\n    weight: 3\n",
  ].map((text) => Buffer.from(text)),
  words: [
    ...KEYS,
    "\nsites:\n  - url: ",
    "\n    deadline: ",
    "\n    priority: ",
    "2h",
    "1MB/s",
    "80%",
    "on",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "<<: ",
    "- ",
    ": ",
    "\n",
    "  ",
    "'",
    '"',
    "|",
    ">",
    "!!binary ",
    "%YAML 1.1\n",
    "---\n",
    "...",
    "\t",
    "\0",
    "\u202e",
    "é",
    "?",
    "http://user:canary@h.example/",
    "__proto__: ",
    "constructor: ",
    "~",
    "null",
    "2026-01-01T00:00",
    "Europe/Berlin",
    "22:00-06:00",
    "[".repeat(5_000),
    "a".repeat(5_000),
  ],
  inputBytesMax: 32 * 1024,
  inputsPerTest: 800,
  // The parser of YAML takes long for deep nesting; the file is the operator's own.
  cpuMsMax: 1_500,
  check,
};
