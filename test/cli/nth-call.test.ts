/**
 * System calls of the real program fail at the n-th call, injected by strace: no descriptor, no route, a reset
 * connection, a full disk. The crawl pauses or retries, or ends with a code; the same command then stores every page.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startTestSite } from "../hostile/crawl-sites.ts";
import { run, temporaryFolder } from "./program.ts";

const PAGES = 12;
const MAIN = ["src/cli/main.ts"];
const canTrace =
  spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "trace=none", "true"]).status === 0;

/** What is injected, at calls n and, with `+`, at every step after it; calls are counted for each thread. */
const INJECTED: readonly (readonly [what: string, inject: string])[] = [
  ["the first socket finds no descriptor", "socket:error=EMFILE:when=1"],
  ["the third and fourth socket find no descriptor", "socket:error=EMFILE:when=3..4"],
  ["the first five connections find no route", "connect:error=ENETUNREACH:when=1..5"],
  ["every third connection is refused", "connect:error=ECONNREFUSED:when=2+3"],
  ["the second write of the database finds the disk full", "pwrite64:error=ENOSPC:when=2"],
  ["writes 20 to 40 of the database find the disk full", "pwrite64:error=ENOSPC:when=20..40"],
  ["the second sync fails", "fdatasync:error=EIO:when=2"],
  ["writes 8 to 12 of a file find an error of the disk", "pwrite64:error=EIO:when=8..12"],
];

describe("system calls that fail", { skip: canTrace ? false : "needs strace" }, () => {
  for (const [what, inject] of INJECTED)
    test(`${what}: every page is stored`, async () => {
      await using site = await startTestSite(({ path }) => pageAt(path));
      using folder = temporaryFolder();
      const words = ["crawl", `${site.origin}/`, "--out", join(folder.path, "out"), "--json"];
      const flags = ["--allow-private", "127.0.0.0/8", "--delay", "0", "--patience", "10s"];
      const traced = ["-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", `inject=${inject}`];
      const program: [string, ...string[]] = ["strace", ...traced, process.execPath, ...MAIN];
      const first = await run([...words, ...flags], { program });
      assert.ok([0, 1, 3].includes(first.code ?? -1), `${first.code}: ${first.stderr}`);
      assert.doesNotMatch(first.stderr, /a bug in Weir|\n {4}at /, first.stderr);
      const last = first.code === 0 ? first : await run([...words, ...flags]);
      assert.equal(last.code, 0, `${first.stderr}\n${last.stderr}`);
      const { complete, pages } = JSON.parse(last.stdout) as { complete: boolean; pages: number };
      assert.deepEqual({ complete, pages }, { complete: true, pages: PAGES });
    });
});

function pageAt(path: string): { body: string; status?: number } {
  const number = Number(path.slice(1) || "0");
  if (!(number < PAGES)) return { body: "none", status: 404 };
  return { body: `<title>${number}</title><a href="/${number + 1}">next</a> page ${number}` };
}
