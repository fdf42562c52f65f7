/** The summary at the end of a crawl: results, folder, and useful commands. */

import { showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { capMeaning } from "../control/caps.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import { type Reason, refusedByRules } from "../page/outcome.ts";
import { WALLS } from "../page/page-marks.ts";
import { isOpen, standingWords } from "../results/deadline-standing.ts";
import { plural, showCount, showPace } from "./amounts.ts";
import { reasonsOf } from "./frame.ts";
import type { Palette } from "./terminal.ts";

const REASONS_MAX = 8;
const MISSED_MAX = 10;
const REFUSED_SEEDS_MAX = 10;
const UNREACHABLE_MAX = 10;
/**
 * Share of the crawl's time from which on lack of processor time is reported as a reason for missed
 * deadlines.
 */
const CPU_BOUND_SHARE = 0.1;

/** `last` is how the crawl stood at its end. */
export function summaryOf(
  result: CrawlResult,
  last: Pick<Snapshot, "sites" | "elapsedMs">,
  folder: string,
  palette: Palette,
): string[] {
  const { urls } = result;
  const elapsed = showDuration(result.seconds * 1000);
  const pace = result.seconds > 0 ? urls.done / result.seconds : 0;
  const isEmpty = result.pages === 0 && urls.failed + refusedByRules(result.outcomes) > 0;
  const heading = result.complete
    ? palette.good(isEmpty ? "Ended without a page" : "Done")
    : palette.bad(`Stopped (${visible(result.stoppedBy, 300)})`);
  return [
    "",
    `${heading}: ${palette.bold(plural(result.pages, "page"))}, ${showBytes(result.bytes)}; this run took ${elapsed}${result.resumed ? "" : `, ${showPace(pace)} responses/s`}.`,
    `  ${plural(urls.known, "URL")}: ${showCount(urls.done)} done, ${showCount(urls.failed)} failed, ${showCount(urls.skipped)} skipped, ${showCount(urls.pending)} waiting`,
    ...reasons("failed", result),
    ...reasons("skipped", result),
    ...caps(result),
    ...refusedSeedLines(result, palette),
    ...unreachable(result, palette),
    ...duplicates(result),
    ...marked(result),
    ...promises(result, last, palette),
    ...hints(result),
    `  Stored in ${visible(folder, 300)}`,
    ...nextSteps(result, visible(folder, 300), palette),
  ];
}

function reasons(kind: "failed" | "skipped", { outcomes }: CrawlResult): string[] {
  const words = reasonsOf(outcomes, kind, REASONS_MAX);
  return words.length === 0 ? [] : [`  ${kind}: ${words.join(", ")}`];
}

/** Caps that cut something off, each with its setting. */
function caps({ caps: found }: CrawlResult): string[] {
  if (found.length === 0) return [];
  return [
    "  cut off by a cap:",
    ...found.map((cap) => {
      const how = cap.setting === null ? "a fixed cap" : `see ${cap.setting}`;
      return `    ${showCount(cap.count)} ${capMeaning(cap)} (${cap.cap}; ${how})`;
    }),
  ];
}

/** What admits a seed that was refused for this reason. */
const SEED_REMEDIES: Readonly<Record<string, string>> = {
  robots_denied: "robots.txt forbids it; --ignore-robots, if the owner of the site agreed",
  ssrf_blocked: "its host name resolves to a private address; --allow-private with that range",
  out_of_scope: "its redirect is refused by --include or --exclude; change the pattern or the seed",
  scheme_refused: "it redirects to neither http nor https; give another seed",
  port_refused: "it leads to a port of another protocol; give another seed",
  type_unwanted: "its media type is not among --accept-types",
};

export function refusedSeedLines(
  { refusedSeeds: { count, first } }: CrawlResult,
  palette: Palette,
): string[] {
  if (count === 0) return [];
  const lines = first.slice(0, REFUSED_SEEDS_MAX).map(({ url, reason, detail }) => {
    const remedy = SEED_REMEDIES[reason] ?? "see docs/reasons.md";
    const why = detail === "" ? reason : `${reason}, ${detail}`;
    return `    ${visible(url, 200)} (${visible(why, 120)}): ${remedy}`;
  });
  const heading = `${plural(count, "seed")} refused:`;
  return [`  ${palette.bad(heading)}`, ...lines, ...(count > lines.length ? ["    …"] : [])];
}

/** What waits for sites that did not respond, and why they did not. */
function unreachable({ unreachable: { count, first } }: CrawlResult, palette: Palette): string[] {
  if (count === 0) return [];
  const lines = first.slice(0, UNREACHABLE_MAX).map(({ site, pending, reason, seconds }) => {
    const forMs = showDuration(seconds * 1000);
    return `    ${visible(site, 200)}: ${reason} for ${forMs}, ${plural(pending, "URL")} waiting`;
  });
  const heading = `${plural(count, "site")} could not be reached:`;
  return [`  ${palette.bad(heading)}`, ...lines, ...(count > lines.length ? ["    …"] : [])];
}

function duplicates({ duplicates: { exact, near } }: CrawlResult): string[] {
  return exact + near === 0
    ? []
    : [`  ${showCount(exact)} exact and ${showCount(near)} near copies of other pages`];
}

/** Pages whose content a browser would show, and walls that were sent instead of pages. */
function marked({ remarks }: CrawlResult): string[] {
  const walls = WALLS.map((wall) => [wall, remarks[wall] ?? 0] as const).filter(([, n]) => n > 0);
  const wallCount = walls.reduce((sum, [, count]) => sum + count, 0);
  const names = walls.map(([wall, count]) => `${wall} ${showCount(count)}`).join(", ");
  const scripts = remarks["needs_scripts"] ?? 0;
  return [
    ...(scripts === 0 ? [] : [`  ${plural(scripts, "page")} without text until scripts run`]),
    ...(wallCount === 0 ? [] : [`  ${plural(wallCount, "wall")} instead of a page: ${names}`]),
  ];
}

function promises(
  { sites, bandwidth, seconds }: CrawlResult,
  last: Pick<Snapshot, "sites" | "elapsedMs">,
  palette: Palette,
): string[] {
  const promised = sites.filter(({ met }) => met !== null);
  if (promised.length === 0) return [];
  const openSites = new Set(
    last.sites.filter((site) => isOpen(site, last)).map(({ site }) => site),
  );
  const open = promised.filter(({ site, met }) => met === false && openSites.has(site)).length;
  const missed = promised.filter(({ site, met }) => met === false && !openSites.has(site));
  const met = promised.length - missed.length - open;
  const words = standingWords({ met, missed: missed.length, open });
  const paint = missed.length > 0 ? palette.bad : met > 0 ? palette.good : palette.accent;
  return [
    `  ${paint(words)}`,
    ...missed.slice(0, MISSED_MAX).map(({ site, deadlineSeconds, finishedSeconds, promised }) => {
      const due = showDuration((deadlineSeconds ?? 0) * 1000);
      const done =
        finishedSeconds === null
          ? "not done"
          : `done after ${showDuration(finishedSeconds * 1000)}`;
      const planned =
        promised === null
          ? ""
          : `, planned at the start for ${showDuration(promised.finishSeconds * 1000)} (${promised.certainty})`;
      return `    ${visible(site, 200)}: ${done}, due after ${due}${planned}`;
    }),
    ...(missed.length > 0 && bandwidth.secondsCpuBound >= CPU_BOUND_SHARE * seconds
      ? [
          `    reason, where not reported at the start: this machine had no processor time to fill the limit for ${showDuration(bandwidth.secondsCpuBound * 1000)}`,
        ]
      : []),
  ];
}

/** The flags that help when a TLS handshake fails. */
const TLS_REMEDIES: readonly (readonly [Reason, string])[] = [
  [
    "tls_untrusted",
    "no known authority signed the certificate; --ca FILE names another authority, such as a company's own",
  ],
  ["tls_expired", "the certificate is out of date; --insecure-tls accepts it unverified"],
  ["tls_name", "the certificate is for another name; --insecure-tls accepts it unverified"],
  [
    "tls_error",
    "if the server requires a client certificate: --client-cert FILE, --client-key FILE",
  ],
];

/** Explanations that a new user would otherwise have to look up. */
function hints({ outcomes, pages, refusedSeeds }: CrawlResult): string[] {
  const found: string[] = [];
  if (refusedSeeds.count > 0) return found;
  if ((outcomes["ssrf_blocked"] ?? 0) > 0)
    found.push(
      "  ssrf_blocked: a host name resolved to a private address; --allow-private permits such addresses",
    );
  for (const [reason, remedy] of TLS_REMEDIES)
    if ((outcomes[reason] ?? 0) > 0) found.push(`  ${reason}: ${remedy}`);
  if ((outcomes["robots_denied"] ?? 0) > 0 && pages === 0)
    found.push("  robots_denied: the site's robots.txt forbids these URLs");
  return found;
}

function nextSteps(result: CrawlResult, folder: string, palette: Palette): string[] {
  const again =
    result.unreachable.count > 0
      ? "The same command tries these sites again; --patience sets how long it waits for them."
      : "The same command resumes the crawl.";
  if (!result.complete) return ["", again, `  ${palette.dim(`weir status ${folder}`)}`];
  if (result.pages === 0) return [];
  return [
    "",
    "Look at it:",
    palette.dim(`  weir status ${folder}`),
    palette.dim(`  weir serve ${folder}`),
    palette.dim(`  ${folder}/report.html, in a browser`),
    palette.dim(`  weir export ${folder} --format jsonl --text --out pages.jsonl`),
  ];
}
