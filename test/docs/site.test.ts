import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { makeSite } from "../../scripts/site-pages.ts";
import { ROOT, run, temporaryFolder } from "../cli/program.ts";

/** A project with these documents, which is gone after the test. */
function projectOf(files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), text);
  }
  return folder;
}

test("links between documents become links between pages, and what they show comes along", () => {
  using project = projectOf({
    "README.md":
      "# Front\n\n[all](docs/README.md) [part](docs/a.md#the-2nd-part) [away](https://example.org/)",
    "docs/README.md": "# Contents\n\n## How to\n\n[a](a.md)",
    "docs/a.md":
      "# `A` page\n\n## The 2nd part!\n\n![plot](lab/plot.svg) [up](../README.md) [here](#a-page)",
    "docs/lab/plot.svg": "<svg/>",
  });
  const { pages, files, faults } = makeSite(project.path);
  assert.deepEqual(faults, []);
  assert.deepEqual([...pages.keys()].toSorted(), ["docs/a.html", "docs/index.html", "index.html"]);
  assert.deepEqual([...files], ["docs/lab/plot.svg"]);
  const front = pages.get("index.html") ?? "";
  assert.match(front, /href="docs\/index\.html"/);
  assert.match(front, /href="docs\/a\.html#the-2nd-part"/);
  assert.match(front, /href="https:\/\/example\.org\/"/);
  const page = pages.get("docs/a.html") ?? "";
  assert.match(page, /<h2 id="the-2nd-part">/);
  assert.match(page, /href="\.\.\/index\.html">up/);
  assert.match(page, /<title>A page · Weir<\/title>/);
  assert.match(page, /aria-current="page">A page</);
});

test("text in angle brackets that reads as a tag is reported, elements and escaped text are not", () => {
  using project = projectOf({
    "README.md": "# Front\n\nBy default data/<first site>, not \\<second site>, `<third>`.",
    "docs/README.md": '# Contents\n\n<!-- made -->\n\n<p align="center"><img src="x.png"></p>',
  });
  const { pages, faults } = makeSite(project.path);
  assert.deepEqual(faults, ["README.md: <first site> reads as a tag"]);
  assert.match(pages.get("index.html") ?? "", /not &lt;second site&gt;/);
});

test("every link that leads nowhere is told, with where it stands", () => {
  using project = projectOf({
    "README.md":
      "# Front\n\n[1](docs/gone.md) [2](docs/README.md#no) [3](docs) ![4](x.png) [5](../out)",
    "docs/README.md": "# Contents",
    "docs/lost.md": "# Nobody names it",
  });
  assert.deepEqual(makeSite(project.path).faults, [
    "README.md: docs/gone.md leads to nothing",
    "README.md: docs/README.md#no names no heading there",
    "README.md: docs leads to a folder",
    "README.md: x.png leads to nothing",
    "README.md: ../out leads out of the project",
    "docs/lost.md is not in docs/README.md",
  ]);
});

test("the site is built whole: no dead link, nothing from elsewhere, no script", async () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "site");
  const built = await run(["--out", out], {
    program: [process.execPath, join(ROOT, "scripts/site.ts")],
  });
  assert.equal(built.code, 0, built.stderr);
  const places = readdirSync(out, { recursive: true, encoding: "utf8" });
  const pages = places.filter((place) => place.endsWith(".html"));
  assert.ok(pages.length > 30, `${pages.length} pages`);
  for (const place of pages) {
    const html = readFileSync(join(out, place), "utf8");
    assert.doesNotMatch(html, /<script|<iframe|@import|\son[a-z]+="/i, place);
    for (const [, attribute = "", target = ""] of html.matchAll(/\b(src|href)="([^"]*)"/g)) {
      if (/^https?:|^mailto:/.test(target)) assert.equal(attribute, "href", `${place}: ${target}`);
      else if (!target.startsWith("#")) {
        const file = join(out, dirname(place), target.replace(/#.*/, ""));
        assert.ok(existsSync(file), `${place}: ${target} is not there`);
      }
    }
  }
  assert.match(
    readFileSync(join(out, "docs/settings.html"), "utf8"),
    /weir-data\/&lt;first site&gt;/,
  );
  assert.doesNotMatch(readFileSync(join(out, "style.css"), "utf8"), /url\(|@import/);
});
