import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { ROOT, run, temporaryFolder } from "../cli/program.ts";
import { letAxeIn, seriousFaults } from "./axe.ts";
import { openBrowser, WITHOUT_BROWSER } from "./browser.ts";
import { richCrawl } from "./dashboards.ts";

const SHOTS = join(ROOT, "test/page/shots");
const PHONE = 390;
const HEADING_PIXELS_MAX = 150;

interface Seen extends AsyncDisposable {
  readonly page: Page;
  /** Whatever it wanted from elsewhere, and whatever it complained about. */
  readonly faults: readonly string[];
}

/** Opens a file as a person would who was sent it. */
async function opened(browser: Browser, file: string, dark: boolean, width = 1200): Promise<Seen> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
    bypassCSP: true,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("requestfailed", (request) => faults.push(`failed: ${request.url()}`));
  context.on("request", (request) => {
    if (!request.url().startsWith("file:")) faults.push(`outside: ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

/** From the top, in pixels. */
async function headingAt(page: Page): Promise<number> {
  return (await page.locator("h1").boundingBox())?.y ?? Infinity;
}

async function looksGood(browser: Browser, file: string, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  for (const dark of [false, true]) {
    await using seen = await opened(browser, file, dark);
    await seen.page.screenshot({ path: join(SHOTS, `${name}-${dark ? "dark" : "light"}.png`) });
    // Before the checker comes in, which asks for the style again by itself.
    assert.deepEqual(seen.faults, []);
    assert.ok((await headingAt(seen.page)) < HEADING_PIXELS_MAX, `${name} begins with its heading`);
    await letAxeIn(seen.page);
    assert.deepEqual(await seriousFaults(seen.page), [], `${name}${dark ? ", dark" : ""}`);
  }
  await using phone = await opened(browser, file, false, PHONE);
  assert.ok((await headingAt(phone.page)) < HEADING_PIXELS_MAX, `${name} begins with its heading`);
  const width = await phone.page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(width <= PHONE, `${name} is ${width} pixels wide on a telephone`);
}

test(
  "a report opens from a disk, asks nobody, prints, and has no serious fault",
  { skip: WITHOUT_BROWSER },
  async () => {
    using crawl = await richCrawl();
    using folder = temporaryFolder();
    const file = join(folder.path, "report.html");
    const { code, stderr } = await run(["report", crawl.folder, "--out", file]);
    assert.equal(code, 0, stderr);
    await using browser = await openBrowser();
    await looksGood(browser, file, "report");
    await using dark = await opened(browser, file, true);
    await dark.page.emulateMedia({ media: "print", colorScheme: "dark" });
    const colours = await dark.page.evaluate<string[]>(
      "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.weir .paper')).fill]",
    );
    assert.deepEqual(colours, ["rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
    const pdf = await dark.page.pdf({ format: "A4" });
    assert.ok(pdf.length > 10_000);
  },
);

test(
  "the documents open from a disk, lead on, and have no serious fault",
  { skip: WITHOUT_BROWSER },
  async () => {
    using folder = temporaryFolder();
    const site = join(folder.path, "site");
    const program = [process.execPath, join(ROOT, "scripts/site.ts")] as const;
    const built = await run(["--out", site], { program: [...program] });
    assert.equal(built.code, 0, built.stderr);
    await using browser = await openBrowser();
    for (const page of ["index", "docs/settings", "docs/papers/bounded-bandwidth", "docs/lab"])
      await looksGood(browser, join(site, `${page}.html`), `site-${page.replaceAll("/", "-")}`);
    await using seen = await opened(browser, join(site, "index.html"), false);
    await seen.page.click("nav >> text=Meet deadlines");
    assert.equal(await seen.page.textContent("h1"), "Meet deadlines");
  },
);
