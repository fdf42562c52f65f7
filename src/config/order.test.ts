import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { folderNameOf, readOrder } from "./order.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-order-"));
after(() => rmSync(folder, { recursive: true }));

async function refusalOf(...words: string[]): Promise<CrawlError> {
  try {
    await readOrder(words, {});
  } catch (error) {
    assert.ok(error instanceof CrawlError, String(error));
    return error;
  }
  throw new Error(`accepted: ${words.join(" ")}`);
}

function seedsFile(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

test("an order has settings, canonical addresses and a folder named after the first site", async () => {
  const order = await readOrder(["HTTP://A.test:80/x/../y#z", "http://b.test:8080/"], {});
  assert.deepEqual(order.seeds, ["http://a.test/y", "http://b.test:8080/"]);
  assert.equal(order.outFolder, join("weir-data", "a.test"));
});

test("mistakes in settings, addresses and manners are told in one error", async () => {
  const error = await refusalOf("--delay", "5", "htp://x/", "example.org", "https://example.org/");
  assert.equal(error.code, "SETTINGS_INVALID");
  assert.match(error.message, /^4 mistakes/);
  assert.match(error.message, /--delay "5": expects a duration/);
  assert.match(error.message, /"htp:\/\/x\/" is neither http nor https/);
  assert.match(error.message, /"example.org" is not a URL; did you mean https:\/\/example.org\//);
  assert.match(error.message, /https:\/\/example.org is public: give a contact with --contact/);
});

test("a private address is refused with the flag that would allow it", async () => {
  for (const [url, range] of [
    ["http://127.0.0.1:8000/", "127.0.0.0/8"],
    ["http://localhost/", "127.0.0.0/8"],
    ["http://10.1.2.3/", "10.1.2.3"],
    ["http://[fd12::1]/", "fd12::1"],
    ["http://0x7f.1/", "127.0.0.0/8"],
    ["http://169.254.169.254/", "169.254.169.254"],
  ] as const) {
    const error = await refusalOf(url);
    assert.equal(error.code, "SEED_REFUSED");
    assert.ok(error.message.includes(`--allow-private ${range}`), `${url}: ${error.message}`);
    const order = await readOrder([url, "--allow-private", range], {});
    assert.equal(order.seeds.length, 1, url);
  }
});

test("bad lines of a seeds file are listed with their numbers, and the good ones used", async () => {
  const lines = ["\ufeff# mine", "http://a.test/", "", "nonsense", "http://b.test/ # second"];
  const file = seedsFile("crlf.txt", lines.join("\r\n"));
  const order = await readOrder(["--seeds", file], {});
  assert.deepEqual(order.seeds, ["http://a.test/", "http://b.test/"]);
  assert.match(order.remarks.join("\n"), /1 bad line in .*\n {2}line 4: "nonsense" is not a URL/);
});

test("an endless line, bytes that are no text and a doubled address do no harm", async () => {
  const text = `${"x".repeat(3_000_000)}\nhttp://a.test/\n\u0000\u001b[31m\nhttp://A.test\n`;
  const order = await readOrder(["--seeds", seedsFile("odd.txt", text)], {});
  assert.deepEqual(order.seeds, ["http://a.test/"]);
  assert.doesNotMatch(order.remarks.join("\n"), /[^\P{Cc}\n]/u);
});

test("a seed that a pattern refuses is named; when all are refused, nothing is begun", async () => {
  const seeds = ["http://a.test/docs/", "http://b.test/docs/"];
  const order = await readOrder([...seeds, "--include", "http://b.test/*"], {});
  assert.match(
    order.remarks.join("\n"),
    /1 seed is refused.*\n {2}http:\/\/a.test\/docs\/ matches/,
  );
  const error = await refusalOf(...seeds, "--exclude", "*/docs/*");
  assert.equal(error.code, "SEED_REFUSED");
  assert.match(error.message, /a.test\/docs\/ matches --exclude \*\/docs\/\*/);
});

test("no address at all is said plainly", async () => {
  assert.equal((await refusalOf()).code, "SEEDS_MISSING");
  const empty = await refusalOf("--seeds", seedsFile("bad.txt", "one\ntwo\n"));
  assert.equal(empty.code, "SEEDS_MISSING");
  assert.match(empty.message, /line 2: "two"/);
  assert.equal((await refusalOf("--seeds", join(folder, "none"))).code, "FILE_UNREADABLE");
});

test("a password in an address is not shown back", async () => {
  const error = await refusalOf("ftp://me:hunter2@a.test/");
  assert.doesNotMatch(error.message, /hunter2/);
});

test("a public site needs a contact and a pause, unless it is one's own", async () => {
  const site = "https://en.wikipedia.org/";
  const anonymous = await refusalOf(site);
  assert.match(anonymous.message, /--contact/);
  const hasty = await refusalOf(site, "--contact", "me@a.test", "--delay", "0");
  assert.match(hasty.message, /--delay 0ms: at least 100ms/);
  await readOrder([site, "--contact", "https://a.test/bot"], {});
  await readOrder([site, "--own-sites", "--delay", "0"], {});
  await readOrder(["http://docs.example/", "http://intranet/", "--delay", "0"], {});
});

test("a contact cannot add a header or close the comment of the user agent", async () => {
  for (const contact of ["me@x\r\nEvil: 1", "a) b (", "me@x(y)"])
    assert.match(
      (await refusalOf("https://en.wikipedia.org/", "--contact", contact)).message,
      /--contact .*expects a mail address/,
    );
});

test("folder names keep only harmless letters", () => {
  for (const [url, name] of [
    ["https://docs.example:8080/x", "docs.example-8080"],
    ["http://[::1]:80/", "1-80"],
    ["http://127.0.0.1:9/", "127.0.0.1-9"],
  ] as const)
    assert.equal(folderNameOf(url as CanonicalUrl), name);
});
