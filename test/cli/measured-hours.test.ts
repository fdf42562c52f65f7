/** What a crawl measured of a server holds at hours that it did not measure, and dead links do not count. */

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./program.ts";
import { type SmallSite, startSite } from "./small-site.ts";

const PAGES = 12;
const DEAD_LINKS = 3;
const ANSWER_MS = 40;
const FILLER = "<p>".padEnd(50_000, "word ");

interface Planned {
  readonly sites: readonly { readonly finishSeconds: number; readonly finishP95Seconds: number }[];
}

interface Servers {
  readonly moment: { readonly minuteOfDay: number };
  readonly servers: readonly {
    readonly workingBps: readonly number[] | null;
    readonly holidayBps: readonly number[] | null;
    readonly measuredHours: { readonly working: number[]; readonly holiday: number[] };
  }[];
}

/** Every page links to the next and to pages that are not there; all answers take a while. */
function slowSite(): Promise<SmallSite> {
  const special: Record<string, (response: ServerResponse) => void> = {};
  const answer = (status: number, text: string) => (response: ServerResponse) => {
    setTimeout(() => {
      response.writeHead(status, { "content-type": "text/html" }).end(text);
    }, ANSWER_MS);
  };
  const missing = answer(404, "<p>not here");
  for (const path of ["/robots.txt", "/sitemap.xml"]) special[path] = missing;
  for (let page = 0; page < PAGES; page++) {
    let links = page + 1 < PAGES ? `<a href="/p${page + 1}">next</a>` : "";
    for (let dead = 0; dead < DEAD_LINKS; dead++) {
      special[`/dead${page}-${dead}`] = missing;
      links += `<a href="/dead${page}-${dead}">dead</a>`;
    }
    special[page === 0 ? "/" : `/p${page}`] = answer(
      200,
      `<title>${page}</title>${links}${FILLER}`,
    );
  }
  return startSite({ pageCount: 0, special });
}

test("after a crawl with dead links a plan is no longer than the crawl was, at any hour", async () => {
  await using site = await slowSite();
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = [site.origin, "--allow-private", "127.0.0.0/8", "--limit", "5MB/s", "--out", out];
  const crawl = await run(["crawl", ...words, "--time-zone", "Asia/Tokyo", "--json"]);
  assert.equal(crawl.code, 0, crawl.stderr);
  const { seconds, pages } = JSON.parse(crawl.stdout) as { seconds: number; pages: number };
  assert.equal(pages, PAGES);

  for (const zone of ["Asia/Tokyo", "America/Sao_Paulo", "Europe/London"]) {
    const plan = await run(["plan", ...words, "--time-zone", zone, "--json"]);
    const [planned] = (JSON.parse(plan.stdout) as Planned).sites;
    assert.ok((planned?.finishSeconds ?? Infinity) < seconds, `${zone}: ${plan.stdout}`);
    const times = (planned?.finishP95Seconds ?? 0) / (planned?.finishSeconds ?? 1);
    assert.ok(times < 20, `${zone}: ${plan.stdout}`);
  }

  // Without a flag, in the time zone of the crawl.
  const status = await run(["status", out, "--servers", "--json"]);
  const { moment, servers } = JSON.parse(status.stdout) as Servers;
  const inTokyo = (Math.floor(Date.now() / 60_000) + 9 * 60) % 1440;
  const apart = Math.abs(moment.minuteOfDay - inTokyo);
  assert.ok(Math.min(apart, 1440 - apart) < 30, `${moment.minuteOfDay} is not ${inTokyo}`);
  const [server] = servers;
  const hours = [
    ...(server?.measuredHours.working ?? []),
    ...(server?.measuredHours.holiday ?? []),
  ];
  const now = Math.round(inTokyo / 60) % 24;
  assert.ok(hours.includes(now) && !hours.includes((now + 12) % 24), hours.join());
  const day = server?.workingBps ?? server?.holidayBps ?? [];
  const mean = hours.reduce((sum, hour) => sum + (day[hour] ?? NaN), 0) / hours.length;
  assert.ok(Math.abs((day[(now + 12) % 24] ?? NaN) - mean) <= 1, day.join());
  const shown = await run(["status", out, "--servers"]);
  assert.match(shown.stdout, /·{8}/);
});
