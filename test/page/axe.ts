/** Asks axe-core what is in the way of those who cannot see or point. The page must let it in. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export interface AxeFault {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly string[];
}

export async function letAxeIn(page: Page): Promise<void> {
  await page.addScriptTag({ content: readFileSync(AXE, "utf8") });
}

/** Serious and critical ones, each with the first places. */
export async function seriousFaults(page: Page): Promise<AxeFault[]> {
  const found = await page.evaluate<AxeFault[]>(
    "axe.run(document).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + failureSummary) })))",
  );
  return found.filter(({ impact }) => impact === "serious" || impact === "critical");
}
