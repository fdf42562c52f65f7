/** `weir crawl`: checks the request, runs the crawl, shows it, and prints the summary. */

import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import { type Order, readOrder } from "../../config/order.ts";
import type { TeamOrder } from "../../cluster/local/supervisor.ts";
import { checkLoneFolder, clearFor, forgetNode } from "../../cluster/team-folder.ts";
import { GROUPS, type SETTINGS } from "../../config/schema.ts";
import { saveSettings } from "../../config/saved-settings.ts";
import { type OpenCrawl, openCrawl } from "../../crawl/open.ts";
import type { CrawlResult } from "../../control/snapshot.ts";
import { refusedByRules } from "../../page/outcome.ts";
import { dashboardWish, isOpenToOthers, OPEN_TO_OTHERS } from "../dashboard.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { onInterrupt } from "../interrupts.ts";
import { Screen } from "../screen.ts";
import { refusedSeedLines, summaryOf } from "../summary.ts";
import { paletteFor } from "../terminal.ts";

/** The flags of `--help` without a topic. */
const COMMON: readonly (keyof typeof SETTINGS)[] = [
  ...(["configFile", "seedsFile", "outFolder", "fresh", "refresh"] as const),
  ...(["pagesMax", "depthMax", "timeMaxMs", "scope", "include", "exclude"] as const),
  ...(["limitBps", "limitAt", "quota", "deadlineMs", "watch", "schedule", "procs"] as const),
  ...(["delayMs", "concurrencyPerSite", "contact", "allowPrivate"] as const),
  ...(["dashboard", "json", "verbose"] as const),
];

export const command: Command = {
  run,
  page: {
    usage: "weir crawl [URL…] [--config FILE] [--out DIR] [flags]",
    about:
      "Crawls sites from their seed URLs and stores everything in one folder. Ctrl-C stops; the same command resumes, also after a crash. Public sites require --contact (or WEIR_CONTACT), so that their owners can reach you.",
    examples: [
      ["weir crawl https://example.org/ --contact you@example.org", "one site"],
      [
        "weir crawl https://example.org/docs/ --include 'https://example.org/docs/*'",
        "a part of a site",
      ],
      ["weir crawl http://127.0.0.1:8000/ --allow-private 127.0.0.0/8", "a site on this machine"],
      [
        "weir crawl --seeds sites.txt --scope any --pages 10000 --json",
        "a list of sites, with the result as JSON",
      ],
      [
        "weir crawl https://example.org/ --limit 2MB/s --quota 20GB/month",
        "with a bandwidth limit and a monthly quota",
      ],
      [
        "weir crawl https://example.org/ --limit-at 'mon-fri 08:00-18:00=1MB/s,else=8MB/s'",
        "with a lower limit in office hours",
      ],
      ["weir crawl https://example.org/ --dashboard", "with a dashboard in the browser"],
      [
        "weir crawl --config weir.yaml --refresh",
        "fetch the pages again; unchanged ones cost a 304 each",
      ],
      [
        "weir crawl https://example.org/ --watch --schedule 'every 1h'",
        "recrawl every hour until stopped",
      ],
    ],
    groups: GROUPS,
    common: COMMON,
    ending:
      "Every flag is also a key of weir.yaml (concurrencyPerSite: 4) and an environment variable (WEIR_CONCURRENCY_PER_SITE). Sizes: 500KB 8MiB; rates: 2MB/s 8Mbit/s; durations: 500ms 30s 15m 2h 1d. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 stopped with work left.",
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const order = await readOrder(words, process.env);
  const { settings } = order;
  const stream = settings.json ? process.stderr : process.stdout;
  const screen = new Screen(stream, settings);
  warn(order, screen);
  const { seeds, spellings, outFolder: folder } = order;
  const asked = { settings, seeds, spellings, folder, hooks: {}, log: screen.log };
  const crawl = await openAs(asked);
  keepForReport(order, screen);
  await using stack = new AsyncDisposableStack();
  stack.use(await openDashboard(order, crawl, screen));
  screen.show(() => crawl.snapshot());
  using _ = onInterrupt((why) => {
    screen.say("Stopping: running requests finish. Ctrl-C again to quit at once.");
    crawl.stop(why);
  });
  const result = await crawl.done.finally(() => screen.close());
  await report(order, screen);
  if (settings.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  const palette = paletteFor(stream, process.env);
  const refused = refusedSeedLines(result, palette);
  const lines = settings.json ? refused : summaryOf(result, crawl.snapshot(), folder, palette);
  if (!settings.quiet) for (const line of lines) stream.write(`${line}\n`);
  const code = exitCodeFor(result);
  if (code === EXIT.usage)
    process.stderr.write("No seed was crawled: rules refused all of them.\n");
  return code;
}

/** Beside the crawl; one that cannot be had ends the crawl before it has begun in earnest. */
async function openDashboard(
  { settings, outFolder }: Order,
  crawl: OpenCrawl,
  screen: Screen,
): Promise<AsyncDisposable | undefined> {
  const wish = dashboardWish(outFolder, settings);
  if (wish === undefined) return undefined;
  const { openBeside } = await import("../../dashboard/beside.ts");
  try {
    const dashboard = await openBeside(wish, screen.log);
    screen.tell(`Dashboard: ${dashboard.url}`);
    if (isOpenToOthers(settings)) screen.tell(OPEN_TO_OTHERS);
    return dashboard;
  } catch (error) {
    crawl.stop("the dashboard could not be had");
    await crawl.done;
    throw error;
  }
}

/** A disk that will not have it stops nothing. */
function keepForReport({ settings, outFolder }: Order, screen: Screen): void {
  try {
    saveSettings(outFolder, settings);
  } catch (error) {
    const values = { why: visible(String(error), 300) };
    screen.log.write({
      level: "warn",
      message: "could not save the settings for the report",
      values,
    });
  }
}

/** Alone, with others on this machine, or in a cluster; each loaded only where it is wanted. */
async function openAs(order: TeamOrder): Promise<OpenCrawl> {
  const { procs, natsServers } = order.settings;
  if (natsServers.length > 0) {
    const { beginCluster } = await import("../../cluster/nats/begin.ts");
    return beginCluster(order);
  }
  if (procs === 1) {
    if (order.settings.fresh) {
      clearFor(order.folder, []);
      forgetNode(order.folder);
    } else checkLoneFolder(order.folder);
    return openCrawl(order);
  }
  const { openTeam } = await import("../../cluster/local/supervisor.ts");
  return openTeam(order);
}

/** The crawl is over and stored; a report that cannot be written takes nothing away from it. */
async function report({ settings, outFolder }: Order, screen: Screen): Promise<void> {
  const { writeReport } = await import("../report-file.ts");
  try {
    const { speedsFile } = settings;
    await writeReport({ folder: outFolder, outFile: undefined, speedsFile });
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    screen.say(`No report was written: ${visible(error.message, 300)}`);
  }
}

function warn({ settings, remarks }: Order, screen: Screen): void {
  for (const remark of remarks) screen.say(visible(remark, 500));
  if (settings.ignoreRobots)
    screen.say("WARNING: robots.txt is ignored. Only do this where the owner agreed.");
  if (settings.insecureTls)
    screen.say("WARNING: certificates are not verified; anybody on the way can change pages.");
}

function exitCodeFor(result: CrawlResult): ExitCode {
  if (!result.complete) return EXIT.stopped;
  const { done, failed } = result.urls;
  if (done > 0) return EXIT.done;
  if (failed > 0) return EXIT.failed;
  return refusedByRules(result.outcomes) > 0 ? EXIT.usage : EXIT.done;
}
