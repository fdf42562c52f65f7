/**
 * A real browser that looks at the dashboard, and notes everything that should not happen: errors,
 * refused content, questions to anybody else, dialogs.
 *
 * It is Debian's chromium, or the one that the variable CHROMIUM names. Pictures are kept in
 * `test/page/shots`, for people to look at.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { ROOT } from "../cli/program.ts";

const PLACES = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const CHROMIUM = PLACES.find((place) => place !== undefined && existsSync(place));
const SHOTS = join(ROOT, "test/page/shots");
/** Ends a wait in vain. */
const PATIENCE_MS = 300_000;
const LOOK_EVERY_MS = 50;

/** For `test`: false, or why the tests of a file are left out. */
export const WITHOUT_BROWSER: string | false =
  CHROMIUM === undefined && "needs chromium: apt-get install chromium, or set CHROMIUM to one";

export interface Looks {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Lets a checker be loaded into the page; nothing else may be. */
  readonly letCheckersIn?: boolean;
}

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** What went wrong so far. */
  readonly faults: readonly string[];
  /** Goes to a view by its address. */
  go(view: string): Promise<void>;
  shoot(name: string): Promise<void>;
  text(selector: string): Promise<string>;
  count(selector: string): Promise<number>;
  /** How many pixels stick out at the right. */
  overhang(): Promise<number>;
}

export async function openBrowser(): Promise<Browser & AsyncDisposable> {
  assert.ok(CHROMIUM !== undefined);
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: CHROMIUM, args: asRoot });
}

export async function visit(browser: Browser, url: string, looks: Looks = {}): Promise<Visit> {
  const { width = 1280, height = 860, dark = false, letCheckersIn = false } = looks;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    bypassCSP: letCheckersIn,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const faults = watched(context, page, new URL(url).origin);
  await page.goto(url);
  await page.waitForSelector(".head .pill");
  return {
    page,
    faults,
    async go(view) {
      await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
      await page.waitForSelector(`#tabs a[aria-current]`);
    },
    async shoot(name) {
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: join(SHOTS, `${name}.png`) });
    },
    text: async (selector) => (await page.locator(selector).first().textContent()) ?? "",
    count: (selector) => page.locator(selector).count(),
    overhang: () =>
      page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth"),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

function watched(context: BrowserContext, page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "debug" && message.type() !== "info")
      faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`outside: ${request.url()}`);
  });
  return faults;
}

/** Waits for something to become true; answers with what it was then. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const endMs = performance.now() + PATIENCE_MS;
  while (performance.now() < endMs) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error(`did not come: ${what}`);
}

/** A part of a longer visit: when it fails, its name says where; what follows rests on it. */
export async function step(name: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
