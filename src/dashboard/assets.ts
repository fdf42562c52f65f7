/**
 * The files of the page, each known by name before anybody asks: a path from outside is looked up in
 * this list and never becomes the path of a file.
 *
 * The page is written in TypeScript like everything else and needs no building: in a checkout the
 * types are taken out as the files are read (Node's own stripping), in the package they are
 * built already. Modules of the program that are pure are used by the page as they are; which, is
 * listed here, and a test holds the list against what the page imports.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

/** Modules of the rest of the program, without their extension. */
export const SHARED_MODULES = [
  "bandwidth/history/ledger",
  "base/assert",
  "base/units",
  "base/visible",
  "dashboard/shapes",
  "page/outcome",
  "plan/plan",
  "report/plan-rows",
  "report/scale",
] as const;

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly tag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  js: "text/javascript; charset=utf-8",
  ts: "text/javascript; charset=utf-8",
};
const PAGE = "dashboard/page";

/** The modules have the extension of this file: `ts` in a checkout, `js` in a build. */
const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf(".") + 1);
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * By the path below the page's own: "" is the page itself, `app/…` has the paths of the sources.
 */
export function readAssets(): ReadonlyMap<string, Asset> {
  const names = [
    ...readdirSync(`${ROOT}${PAGE}`)
      .filter((name) => /^[a-z0-9-]+\.(?:css|svg|html|ts|js)$/.test(name))
      .map((name) => `${PAGE}/${name}`),
    ...SHARED_MODULES.map((name) => `${name}.${ENDING}`),
  ];
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const path = name === `${PAGE}/page.html` ? "" : `app/${name}`;
    assets.set(path, assetOf(name));
  }
  return assets;
}

function assetOf(name: string): Asset {
  const ending = name.slice(name.lastIndexOf(".") + 1);
  const text = readFileSync(`${ROOT}${name}`, "utf8");
  const body = Buffer.from(served(text, ending));
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return { type: TYPES[ending] ?? "application/octet-stream", body, tag };
}

function served(text: string, ending: string): string {
  // The page refers to its first module with the extension of a checkout.
  if (ending === "html") return text.replaceAll(/(app\/[\w/-]+)\.ts"/g, `$1.${ENDING}"`);
  return ending === "ts" ? stripTypeScriptTypes(text) : text;
}
