import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, run, temporaryFolder } from "../cli/program.ts";
import { startSite } from "../cli/small-site.ts";

/** Objects whose keys are what came, and not names of ours. */
const OPEN = /^(outcomes|refusedLinks|remarks|caps|unreachable\.first|ledger\.byProcess)$/;

/** The JSON that a section of the document shows, without its comments. */
function shown(heading: string): unknown {
  const page = readFileSync(join(ROOT, "docs/results.md"), "utf8");
  const block =
    /```jsonc\n([^]*?)```/.exec(page.slice(page.indexOf(`## \`${heading}\``)))?.[1] ?? "";
  return JSON.parse(block.replaceAll(/(^|\s)\/\/.*$/gm, ""));
}

/** Every name in it, with the names around it. */
function namesIn(value: unknown, place = ""): string[] {
  if (Array.isArray(value)) return namesIn(value[0], place);
  if (typeof value !== "object" || value === null || OPEN.test(place)) return [];
  return Object.entries(value).flatMap(([key, inside]) => {
    const name = place === "" ? key : `${place}.${key}`;
    return [name, ...namesIn(inside, name)];
  });
}

test("the result of a crawl has the names that the document shows", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const words = ["crawl", site.origin, "--out", join(folder.path, "out"), "--json"];
  const { code, stdout, stderr } = await run([...words, "--allow-private", "127.0.0.0/8"]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    namesIn(JSON.parse(stdout)).toSorted(),
    namesIn(shown("weir crawl --json")).toSorted(),
  );
});

test("the result of a plan has the names that the document shows, and its numbers", async () => {
  const { code, stdout, stderr } = await run(["plan", "--config", "examples/plan.yaml", "--json"]);
  assert.equal(code, 0, stderr);
  const plan = JSON.parse(stdout) as { late: unknown };
  const told = shown("weir plan --json") as typeof plan;
  assert.deepEqual(namesIn(plan).toSorted(), namesIn(told).toSorted());
  assert.deepEqual(plan.late, told.late);
});
