import assert from "node:assert/strict";
import { test } from "node:test";
import { type CanonicalUrl, PLAIN_RULES } from "../url/url.ts";
import { PageThread, withoutKnown } from "./page-thread.ts";
import { PageScanner, type Scan, type ScannedBody, type ScanOptions } from "./scan-page.ts";

const OPTIONS: ScanOptions = {
  ...PLAIN_RULES,
  images: true,
  robotName: "weir",
  nearDuplicates: true,
  anchorsMax: 10,
};
const LINK_KNOWN = 3;
const isKnown = (_: number, low: number): boolean => low % LINK_KNOWN === 0;

function bodyOf(text: string | Buffer, contentType = "text/html"): ScannedBody {
  const url = { url: "http://a.example/b/" as CanonicalUrl, written: undefined };
  return { url, contentType, body: Buffer.from(text) };
}

/** All that is known of a page, its links in order. */
function facts(scan: Scan): object {
  const digest = Buffer.from(scan.digest).toString("hex");
  if (scan.kind !== "html") return { ...scan, digest };
  const { html, harvest, ...rest } = scan;
  const { runs, later, fresh, fingerprints, ...found } = harvest;
  const links = [...fresh, ...[...(later?.portions() ?? [])].flat()];
  const texts = Array.from({ length: runs.count }, (_, run) => [
    runs.start(run),
    runs.end(run),
    runs.gap(run),
  ]);
  const hex = [html, fingerprints].map((bytes) => Buffer.from(bytes).toString("hex"));
  return { ...rest, ...found, digest, links, texts, hex };
}

test("a body read by the thread is what it is when read at once, without the links that are known", async (t) => {
  const thread = new PageThread(OPTIONS);
  t.after(() => thread.close());
  const many = Array.from({ length: 7_000 }, (_, link) => `<p>w${link} <a href="${link}%7e">x</a>`);
  const bodies = [
    bodyOf(`<html lang=en><title>T</title>${many.join("")}`),
    bodyOf("<title>Grüße</title><a href=/ä>x</a>", "text/html; charset=utf-8"),
    bodyOf(Buffer.from("<title>Gr\xfc\xdfe</title><a href=/\xe4>x</a>", "latin1")),
    bodyOf("%PDF-1.7", "application/pdf"),
    bodyOf("<img srcset='a 1x, b 2x'><base href=/late/><a rel=nofollow href=n>"),
  ];
  const scans = await Promise.all(bodies.map((body) => thread.scan(body)));
  for (const [index, body] of bodies.entries()) {
    const scan = scans[index] as Scan;
    const aside =
      scan.kind === "html" ? { ...scan, harvest: withoutKnown(scan.harvest, isKnown) } : scan;
    assert.deepEqual(
      facts(aside),
      facts(new PageScanner(OPTIONS).scan(body, isKnown)),
      `body ${index}`,
    );
  }
});

test("only bodies above 256 KiB are for the thread", () => {
  const thread = new PageThread(OPTIONS);
  assert.deepEqual(
    [0, 256 * 1024, 256 * 1024 + 1].map((bytes) => thread.takes(bytes)),
    [false, false, true],
  );
});

test("what the thread cannot read is an error of the crawl, and of each body that waits", async (t) => {
  const thread = new PageThread(OPTIONS);
  t.after(() => thread.close());
  const broken = { ...bodyOf("<p>"), url: undefined as unknown as ScannedBody["url"] };
  const ends = await Promise.allSettled([thread.scan(broken), thread.scan(bodyOf("<p>"))]);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ["rejected", "rejected"],
  );
});
