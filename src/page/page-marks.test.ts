import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import type { CanonicalUrl } from "../url/url.ts";
import { LinkHarvester } from "./links.ts";
import { marksOf } from "./page-marks.ts";

const URL_OF_PAGE = { url: "http://a.test/" as CanonicalUrl, written: undefined };
const harvester = new LinkHarvester({
  images: false,
  robotName: "weir",
  sortQuery: false,
  dropQuery: false,
  stripSessionIds: false,
} as ConstructorParameters<typeof LinkHarvester>[0]);

function marks(text: string): readonly string[] {
  const html = Buffer.from(text);
  const { runs, fingerprints } = harvester.harvest(html, URL_OF_PAGE, () => false);
  return marksOf({ html, runs, links: fingerprints.length / 8 });
}

const APP = `<!doctype html><title>Shop</title><noscript>Please enable JavaScript.<img src=/t.gif></noscript>
  <div id=root></div><script src="/static/main.js"></script>`;

test("a page that only scripts fill needs scripts", () => {
  assert.deepEqual(marks(APP), ["needs_scripts"]);
  assert.deepEqual(marks("<title>a</title><div id=app></div><script>boot()</script>"), [
    "needs_scripts",
  ]);
});

test("short pages with text, links or media need none", () => {
  assert.deepEqual(marks("<title>Short</title><p>Nothing here."), [], "no script");
  assert.deepEqual(marks(`${APP}<p>${"Some words. ".repeat(21)}`), [], "more than 250 bytes");
  assert.deepEqual(marks(`${APP}<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>`), [
    "needs_scripts",
  ]);
  assert.deepEqual(marks(`${APP}${[1, 2, 3, 4].map((to) => `<a href=/${to}>a</a>`).join("")}`), []);
  assert.deepEqual(marks(`${APP}<img src=photo.jpg>`), []);
  assert.deepEqual(marks(`<script type="application/ld+json">{"a":1}</script><p>Gone`), []);
});

test("login forms, consent forms and challenges are walls", () => {
  const login = `<title>Members</title><form><input name=u><input type="password" name=p></form>`;
  assert.deepEqual(marks(login), ["login_wall"]);
  const cloudflare = `<title>Just a moment...</title><script src="/cdn-cgi/challenge-platform/h/b"></script>`;
  assert.deepEqual(marks(cloudflare), ["challenge_wall"]);
  assert.deepEqual(marks("<h1>Please verify you are a human</h1><div class=h-captcha></div>"), [
    "challenge_wall",
  ]);
  const consent = "<title>Before you continue</title><form><button>Accept all</button></form>";
  assert.deepEqual(marks(consent), ["consent_wall"]);
});

test("a page with 1,500 bytes of text is no wall, whatever it mentions", () => {
  const form = `<input type=password> captcha-delivery.com <button>Accept all</button>`;
  assert.deepEqual(marks(`${form}${"word ".repeat(250)}`), ["challenge_wall"]);
  assert.deepEqual(marks(`${form}${"word ".repeat(310)}`), []);
});

const PAGES = new URL("../../../shared/data/pages/", import.meta.url);

test(
  "of 990 news pages none is marked",
  { skip: !existsSync(PAGES) && "shared data is not there" },
  () => {
    const file = new URL("html-pages-trafilatura.jsonl.xz", PAGES);
    const lines = execFileSync("xz", ["-dc", file.pathname], { maxBuffer: 2 ** 30 }).toString();
    let pages = 0;
    for (const line of lines.split("\n")) {
      if (line === "") continue;
      const { html, url } = JSON.parse(line) as { readonly html?: string; readonly url: string };
      if (html === undefined) continue;
      pages += 1;
      assert.deepEqual(marks(html), [], url);
    }
    assert.ok(pages > 900, `${pages} pages`);
  },
);
