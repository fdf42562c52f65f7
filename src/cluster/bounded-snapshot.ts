/**
 * A snapshot as messages carry it: at most about 200 KB of JSON, whatever URLs, sites and processes are in it.
 *
 * Pure. Long texts are cut, and of long lists the first entries are kept: a snapshot lists first what matters most.
 */

import type { Snapshot } from "../control/snapshot.ts";

const TEXT_CHARS_MAX = 300;
const SITES_MAX = 100;
const SEGMENTS_MAX = 16;
const TROUBLES_MAX = 20;
const PROCESSES_MAX = 512;

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
    troubles: troubles.slice(-TROUBLES_MAX).map(({ url, reason, detail }) => ({
      url: cut(url),
      reason,
      detail: cut(detail),
    })),
    parallel: parallel && { ...parallel, procs: parallel.procs.slice(0, PROCESSES_MAX) },
  };
}

function cut(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX - 1)}…`;
}
