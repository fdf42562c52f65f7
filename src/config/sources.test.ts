import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import { below, pick, randomFrom } from "../base/random.ts";
import { readSettingsFile } from "./file.ts";
import { gatherSettings } from "./sources.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-config-"));
after(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const name = join(folder, `weir-${Math.abs(hash(text))}.yaml`);
  writeFileSync(name, text, { mode: 0o600 });
  return name;
}

function hash(text: string): number {
  return [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 7);
}

async function mistakesOf(words: string[], variables = {}): Promise<string> {
  try {
    return (await gatherSettings(words, variables)).mistakes.join("\n");
  } catch (error) {
    assert.ok(error instanceof CrawlError);
    return error.message;
  }
}

test("a flag outweighs a variable, a variable a file, a file the default", async () => {
  const file = fileOf("delay: 3s\nconnections: 5\nretries: 7\nwarc: false\n");
  const words = ["http://a.test/", "--config", file, "--delay=1s", "--no-images"];
  const { settings } = await gatherSettings(words, { WEIR_DELAY: "2s", WEIR_CONNECTIONS: "6" });
  assert.equal(settings.delayMs, 1000);
  assert.equal(settings.connectionsMax, 6);
  assert.equal(settings.retriesMax, 7);
  assert.equal(settings.warc, false);
  assert.equal(settings.redirectsMax, 5);
  assert.deepEqual(settings.urls, ["http://a.test/"]);
});

test("all mistakes of all places are told at once, each with its place, range or nearest name", async () => {
  const file = fileOf("dealy: 3s\nscope: sites\nsites:\n  - url: http://a.test/\n    dela: 2s\n");
  const message = await mistakesOf(
    ["http://a.test/", "--config", file, "--exclud", "x", "--pages", "0", "--time"],
    { WEIR_RETRIES: "-1" },
  );
  assert.equal(message.split("\n").length, 7);
  assert.match(message, /--exclud is unknown; did you mean --exclude\?/);
  assert.match(message, /--pages "0": expects a whole number from 1 to/);
  assert.match(message, /--time needs a duration/);
  assert.match(message, /WEIR_RETRIES "-1": expects a whole number from 0 to 20/);
  assert.match(message, /line 1: dealy is unknown; did you mean delay\?/);
  assert.match(message, /line 2: scope "sites": expects one of site, domain, host-list, any/);
  assert.match(message, /line 5: dela is unknown; did you mean delay\?/);
});

test("a password is never shown back, not even a mistyped one", async () => {
  for (const proxy of ["ftp://me:hunter2@proxy", "me:hunter2@proxy:80", "http://me:hunter2@"]) {
    const fromFlag = await mistakesOf(["http://a.test/", "--proxy", proxy]);
    const fromVariable = await mistakesOf(["http://a.test/"], { WEIR_PROXY: proxy });
    const fromFile = await mistakesOf(["http://a.test/", "--config", fileOf(`proxy: ${proxy}`)]);
    for (const message of [fromFlag, fromVariable, fromFile]) {
      assert.match(message, /expects a proxy/);
      assert.doesNotMatch(message, /hunter2/);
    }
  }
});

test("a password in a file that others can read is warned about", async () => {
  const file = fileOf("proxy: http://me:hunter2@proxy:8080\n");
  const closed = await gatherSettings(["http://a.test/", "--config", file], {});
  assert.deepEqual(closed.remarks, []);
  chmodSync(file, 0o644);
  const open = await gatherSettings(["http://a.test/", "--config", file], {});
  assert.match(open.remarks.join("\n"), /chmod 600/);
  assert.doesNotMatch(open.remarks.join("\n"), /hunter2/);
});

test("lists come from repeated flags, from commas and from YAML lists", async () => {
  const file = fileOf("exclude:\n  - '*/a/*'\n  - '*/b,c/*'\nacceptTypes: text/html, text/*\n");
  const words = ["--config", file, "--include", "x*", "--include", "y*", "http://a.test/"];
  const ranges = ["--allow-private", "127.0.0.0/8,::1"];
  const { settings } = await gatherSettings([...words, ...ranges], {});
  assert.deepEqual(settings.exclude, ["*/a/*", "*/b,c/*"]);
  assert.deepEqual(settings.include, ["x*", "y*"]);
  assert.deepEqual(settings.acceptTypes, ["text/html", "text/*"]);
  assert.deepEqual(settings.allowPrivate, ["127.0.0.0/8", "::1"]);
});

test("sites of a file have settings of their own, or are just an address", async () => {
  const file = fileOf(
    "sites:\n  - url: http://a.test/\n    delay: 2s\n    concurrency: 3\n    limit: 1MB/s\n  - http://b.test/\n",
  );
  const { settings } = await gatherSettings(["--config", file], {});
  const said = settings.sites.map((site) => [site.url, site.delayMs, site.concurrency]);
  assert.deepEqual(said, [
    ["http://a.test/", 2000, 3],
    ["http://b.test/", undefined, undefined],
  ]);
  assert.deepEqual(
    settings.sites.map(({ limitBps, priority }) => [limitBps, priority]),
    [
      [1e6, 1],
      [undefined, 1],
    ],
  );
});

test("YAML can neither pollute a prototype, nor double a key, nor unfold without end", () => {
  const hostile = [
    "__proto__: {polluted: 1}",
    "constructor: {prototype: {polluted: 1}}",
    "sites:\n  - __proto__: {url: x}",
    "delay: 1s\ndelay: 2s",
    "include: &a [x, y]\nexclude: *a",
    "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]",
    "- delay",
    "delay: {a: 1}",
    "delay:",
    "sites: 5",
    "? [a]\n: b",
    "[".repeat(100_000),
    "delay: !!js/function 'x'",
    "\u0000",
    "fresh: true",
  ];
  for (const text of hostile) {
    const { mistakes, layer } = readSettingsFile(text, "weir.yaml");
    const refusedLater = [...layer.given.values()].flat().includes("");
    assert.ok(mistakes.length > 0 || refusedLater, `accepted ${text.slice(0, 60)}`);
    assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
  }
});

test("a file that is not there, not a file or not readable is named", async () => {
  assert.match(await mistakesOf(["--config", join(folder, "none")]), /Cannot read .*none: ENOENT/);
  assert.match(await mistakesOf(["--config", folder]), /not a file/);
});

test("a foreign variable is only remarked on", async () => {
  const { remarks } = await gatherSettings(["http://a.test/"], { WEIR_DELYA: "1s" });
  assert.deepEqual(remarks, ["WEIR_DELYA is no setting; did you mean WEIR_DELAY?"]);
});

test("no line of words makes it throw anything but an error with a remedy", async () => {
  const parts = [
    "--delay",
    "--no-warc",
    "--",
    "-",
    "--=",
    "=",
    "--delay=",
    "5s",
    "\u001b[31m",
    "-x",
  ];
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const words = Array.from({ length: below(random, 6) }, () => pick(random, parts));
    const message = await mistakesOf(["http://a.test/", ...words]);
    assert.doesNotMatch(message, /[^\P{Cc}\n]/u, `seed ${seed}: a control character came through`);
  }
});
