import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./program.ts";

test("every bad limit is refused at once, with exit code 2 and what to write, and nothing is created", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "weir.yaml"), "siteLimit: 0\nlimitAt: mon=1MB/s,mon-fri=2MB/s\n");
  const words = ["crawl", "http://a.test/", "--config", "weir.yaml", "--limit", "2"];
  const { code, stdout, stderr } = await run([...words, "--quota", "5GB"], {
    folder: folder.path,
  });
  assert.equal(code, 2);
  assert.equal(stdout, "");
  for (const part of [
    "4 mistakes",
    '--limit "2": a rate needs a unit; write 2MB/s or 2Mbit/s',
    '--quota "5GB": say per what; write 5GB/day or 5GB/month',
    'weir.yaml line 1: siteLimit "0": with 0 nothing is ever fetched; write none for no limit',
    'weir.yaml line 2: limitAt "mon=1MB/s,mon-fri=2MB/s": "mon" and "mon-fri" both speak of mon',
  ])
    assert.ok(stderr.includes(part), `${part}\nis not in\n${stderr}`);
  assert.deepEqual(readdirSync(folder.path), ["weir.yaml"]);
});

test("one bad limit is one line and its remedy", async () => {
  for (const [text, told] of [
    ["-2MB/s", "a limit is never negative; write 2MB/s"],
    ["2mbps", "is not clear; write 2Mbit/s or 2MB/s"],
    ["100B/s", "is too little: one request a second takes about 4 KB; write at least 4KB/s"],
  ]) {
    const { code, stderr } = await run(["crawl", "http://a.test/", "--limit", text ?? ""]);
    assert.equal(code, 2);
    assert.equal(stderr.split("\n")[0], `weir: --limit ${JSON.stringify(text)}: ${told}`);
  }
});

test("a change that cannot be read is refused before any crawl is looked for", async () => {
  using folder = temporaryFolder();
  for (const [key, value, told] of [
    ["limit", "500", /a rate needs a unit; write 500MB\/s or 500KB\/s or 500Mbit\/s/],
    ["limit-at", "mon 25:00-26:00=1MB/s", /25:00 is no time of day; the last one is 24:00/],
    ["site-limit", "0", /write none for no limit/],
    ["quota", "1KB/day", /write at least 1MB\/day/],
    ["siteLimit", "1MB/s", /did you mean site-limit\?/],
  ] as const) {
    const { code, stderr } = await run(["set", folder.path, key, value]);
    assert.equal(code, 2);
    assert.match(stderr, told);
  }
});
