/**
 * A snapshot and a result as messages carry them: at most about 200 KB of JSON, whatever URLs, sites and processes are
 * in them.
 *
 * Pure. Long texts are cut, and of long lists the first entries are kept: a snapshot lists first what matters most.
 */

import type { CrawlResult, Snapshot, Trouble } from "../control/snapshot.ts";

const TEXT_CHARS_MAX = 300;
const SITES_MAX = 100;
const SEGMENTS_MAX = 16;
const TROUBLES_MAX = 20;
const PROCESSES_MAX = 512;
const RESULT_SITES_MAX = 500;
const FIRST_MAX = 20;

export function forMessage(snapshot: Snapshot): Snapshot {
  const { because, sites, troubles, parallel } = snapshot;
  return {
    ...snapshot,
    because: cut(because),
    sites: sites.slice(0, SITES_MAX).map((site) => ({
      ...site,
      site: cut(site.site),
      forecast: site.forecast && {
        ...site.forecast,
        segments: site.forecast.segments.slice(0, SEGMENTS_MAX),
      },
    })),
    // The newest are last.
    troubles: troubles.slice(-TROUBLES_MAX).map(cutTrouble),
    parallel: parallel && { ...parallel, procs: parallel.procs.slice(0, PROCESSES_MAX) },
  };
}

/** The sites with deadlines and the busiest ones are first. */
export function resultForMessage(result: CrawlResult): CrawlResult {
  const { stoppedBy, sites, refusedSeeds, unreachable } = result;
  return {
    ...result,
    stoppedBy: cut(stoppedBy),
    sites: sites.slice(0, RESULT_SITES_MAX).map((site) => ({ ...site, site: cut(site.site) })),
    refusedSeeds: {
      count: refusedSeeds.count,
      first: refusedSeeds.first.slice(0, FIRST_MAX).map(cutTrouble),
    },
    unreachable: {
      count: unreachable.count,
      first: unreachable.first
        .slice(0, FIRST_MAX)
        .map((one) => ({ ...one, site: cut(one.site), detail: cut(one.detail) })),
    },
  };
}

function cutTrouble({ url, reason, detail }: Trouble): Trouble {
  return { url: cut(url), reason, detail: cut(detail) };
}

function cut(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX - 1)}…`;
}
