import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { FetchedPage } from "../fetch/fetcher.ts";
import type { WaitingUrl } from "../store/store.ts";
import { NO_TRAFFIC } from "../fetch/transport.ts";
import { pageForHook, PageReader, type Reading } from "./parse-page.ts";
import { urlOf } from "./small-crawl.suite.ts";

const HTML = "text/html; charset=utf-8";

test("links, title and language of a page are read", () => {
  const { title, language, fresh, links } = read(
    '<html lang=de><title>Titel</title><a href="/a">x</a>',
  );
  assert.deepEqual(
    [title, language, fresh.map(({ url }) => url)],
    ["Titel", "de", ["http://a.example/a"]],
  );
  assert.equal(links.byteLength, 8);
});

test("a known target is no fresh link, but still a link", () => {
  const { fresh, links } = read('<a href="/a">x</a>', { isKnown: () => true });
  assert.deepEqual([fresh.length, links.byteLength], [0, 8]);
});

test("nofollow of a link, a page and a header are obeyed, and ignored on request", () => {
  const link = '<a rel=nofollow href="/a">x</a>';
  const page = '<meta name=robots content=nofollow><a href="/a">x</a>';
  const headers = [["x-robots-tag", "nofollow"]] as const;
  const named = [["x-robots-tag", "otherbot: nofollow"]] as const;
  for (const reading of [read(link), read(page), read('<a href="/a">x</a>', { headers })]) {
    assert.equal(reading.fresh.length, 0);
    assert.equal(reading.refusedLinks["nofollow"], 1);
  }
  assert.equal(read('<a href="/a">x</a>', { headers: named }).fresh.length, 1);
  const settings = { nofollow: "ignore" as const };
  assert.equal(read(page, { settings }).fresh.length, 1);
});

test("the charset of the page is used for title and text", () => {
  const body = Buffer.from("<title>caf\xe9</title>", "latin1");
  const { charset, title } = read(body, { contentType: "text/html; charset=iso-8859-1" });
  assert.deepEqual([charset, title], ["windows-1252", "café"]);
});

test("a body that is not HTML has a digest and no links; text is text for the index", () => {
  const settings = { searchIndex: true };
  const plain = read("words <a href=/x>", { contentType: "text/plain", settings });
  assert.deepEqual([plain.links.byteLength, plain.fresh.length, plain.charset], [0, 0, ""]);
  assert.equal(Buffer.from(plain.text).toString(), "words <a href=/x>");
  const image = read("GIF89a", { contentType: "image/gif", settings });
  assert.deepEqual([image.text.length, image.digest.length > 0], [0, true]);
});

test("text for the index ends after 1 MiB, and the page says so", () => {
  const settings = { searchIndex: true };
  for (const contentType of ["text/plain", HTML]) {
    const long = read("word ".repeat(400_000), { contentType, settings });
    assert.ok(long.text.length <= 2 ** 20 && long.text.length > 1_000_000, contentType);
    assert.ok(long.remarks.includes("text_capped"), contentType);
    const short = read("word ".repeat(100_000), { contentType, settings });
    assert.ok(!short.remarks.includes("text_capped"), contentType);
  }
});

test("the words of at most 20,000 links are read to order the queue, and only for a topic", () => {
  const html = '<a href="/a">word</a>'.repeat(25_000);
  assert.equal(read(html, { settings: { order: "topic" } }).anchors.length, 20_000);
  assert.equal(read(html).anchors.length, 0);
});

test("a hook gets at most four million characters of text, and the links with their words", () => {
  const body = `<a href="/next">the next page</a>${"word ".repeat(900_000)}`;
  const page = pageOf(Buffer.from(body), {});
  const row = { url: "http://a.example/", written: undefined, depth: 1 } as WaitingUrl;
  const shown = pageForHook(row, page, read(body), undefined);
  assert.equal(shown.text().length, 4_000_000);
  assert.deepEqual(shown.links(), [
    { url: "http://a.example/next", text: "the next page", nofollow: false },
  ]);
});

test("equal bodies have equal digests, others differ", () => {
  assert.deepEqual(read("<p>a").digest, read("<p>a").digest);
  assert.notDeepEqual(read("<p>a").digest, read("<p>b").digest);
});

interface Given {
  readonly contentType?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly settings?: Partial<Settings>;
  readonly isKnown?: () => boolean;
}

function read(text: string | Uint8Array, given: Given = {}): Reading {
  const { settings = {}, isKnown = () => false } = given;
  const body = typeof text === "string" ? Buffer.from(text) : text;
  const reader = new PageReader({ ...defaultSettings(), ...settings });
  const url = { url: urlOf("http://a.example/"), written: undefined };
  const reading = reader.read(url, pageOf(body, given), isKnown);
  assert.ok(!(reading instanceof Promise), "without a worker a page is read at once");
  return reading;
}

function pageOf(body: Uint8Array, { contentType = HTML, headers = [] }: Given): FetchedPage {
  return {
    kind: "page",
    body,
    contentType,
    remarks: [],
    etag: "",
    lastModified: "",
    address: "203.0.113.1",
    atMs: 0,
    durationMs: 0,
    traffic: NO_TRAFFIC,
    reply: {
      requestHeaders: [],
      status: 200,
      statusText: "OK",
      httpVersion: "1.1",
      headers,
      body,
      truncated: undefined,
      eofDelimited: false,
      verified: true,
    },
  } as unknown as FetchedPage;
}
