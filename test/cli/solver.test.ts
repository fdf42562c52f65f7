import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const PLAN = `
limit: 1MB/s
maxSites: 2
sites:
${["a", "b", "c", "d"].map((name) => `  - { url: "https://${name}.example/", size: 10MB }`).join("\n")}
`;

/** The files that a run loads, in all threads, by Node's record of what was executed. */
async function filesLoadedBy(...words: string[]): Promise<string> {
  using folder = temporaryFolder();
  const { code, stderr } = await run(words, { variables: { NODE_V8_COVERAGE: folder.path } });
  assert.equal(code, 0, stderr);
  const records = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name)));
  return records.join("\n");
}

test("the solver is loaded only for --algorithm mip", async () => {
  using folder = temporaryFolder();
  const config = join(folder.path, "plan.yaml");
  writeFileSync(config, PLAN);
  const plan = ["plan", "--config", config, "--algorithm"];
  assert.match(await filesLoadedBy(...plan, "mip"), /node_modules\/highs\//);
  for (const algorithm of ["optimal", "cpq"])
    assert.doesNotMatch(await filesLoadedBy(...plan, algorithm), /node_modules\/highs\/|solve-mip/);

  await using site = await startSite({ pageCount: 3 });
  const crawl = ["crawl", site.origin, "--allow-private", "127.0.0.0/8", "--deadline", "5m"];
  const loaded = await filesLoadedBy(
    ...crawl,
    "--limit",
    "1MB/s",
    "--out",
    join(folder.path, "out"),
  );
  assert.match(loaded, /choose-plan/);
  assert.doesNotMatch(loaded, /node_modules\/highs\/|solve-mip/);
});
