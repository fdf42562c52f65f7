import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { FetchedPage } from "../fetch/fetcher.ts";
import { NO_TRAFFIC } from "../fetch/transport.ts";
import { PageReader, type Reading } from "./parse-page.ts";
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
  const { contentType = HTML, headers = [], settings = {}, isKnown = () => false } = given;
  const body = typeof text === "string" ? Buffer.from(text) : text;
  const page: FetchedPage = {
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
  const reader = new PageReader({ ...defaultSettings(), ...settings });
  const url = { url: urlOf("http://a.example/"), written: undefined };
  const reading = reader.read(url, page, isKnown);
  assert.ok(!(reading instanceof Promise), "a small page is read at once");
  return reading;
}
