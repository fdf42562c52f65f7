/**
 * The metrics of a crawl for Prometheus: text format 0.0.4, from one snapshot.
 *
 * Labels are bounded: outcomes, purposes of bytes, rules that refuse links, and the crawl's states.
 * No site, no URL and no other text of the web becomes a label, so a hostile web cannot overload a
 * monitoring system.
 */

import { PURPOSES } from "../bandwidth/history/ledger.ts";
import type { CrawlState } from "../control/snapshot.ts";
import { REASONS } from "../page/outcome.ts";
import type { Look } from "./shapes.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const STATES: readonly CrawlState[] = [
  "starting",
  "running",
  "paused",
  "waiting",
  "stopping",
  "done",
  "stopped",
];

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Metric {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly samples: readonly Sample[];
}

export function metricsText(look: Look): string {
  return metricsOf(look)
    .map(({ name, type, help, samples }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(({ labels, value }) => `${name}${written(labels)} ${number(value)}`),
      ].join("\n"),
    )
    .join("\n")
    .concat("\n");
}

/** All metrics, for the documentation too. */
export function metricsOf(look: Look): Metric[] {
  const { snapshot, isRunning } = look;
  return [
    gauge("weir_up", "Whether a crawl runs in the folder.", isRunning ? 1 : 0),
    {
      name: "weir_state",
      type: "gauge",
      help: "1 for the current state of the crawl, 0 for the others.",
      samples: STATES.map((state) => sample({ state }, snapshot.state === state ? 1 : 0)),
    },
    ...lineMetrics(look),
    ...urlMetrics(look),
    gauge("weir_sites", "Sites known.", snapshot.siteCount),
    {
      name: "weir_deadlines",
      type: "gauge",
      help: "Sites with a deadline by state; at most 100 are counted.",
      samples: standings(look),
    },
  ];
}

function lineMetrics({ snapshot }: Look): Metric[] {
  const { totals, ledger, rateBps, limitBps, predictedBps, waitingReaders } = snapshot;
  const { connectionsOpen, connectionsMax } = snapshot;
  return [
    counter("weir_received_bytes_total", "Bytes received, packet headers included.", totals.bytes),
    {
      name: "weir_ledger_bytes_total",
      type: "counter",
      help: "Bytes by purpose; those of open requests are not counted yet.",
      samples: PURPOSES.map((purpose) => sample({ purpose }, ledger[purpose])),
    },
    gauge("weir_rate_bytes_per_second", "Received in the last whole second.", rateBps),
    // Without a limit the value is infinite.
    gauge("weir_limit_bytes_per_second", "The limit; +Inf for none.", limitBps ?? Infinity),
    gauge("weir_predicted_bytes_per_second", "Predicted rate of running downloads.", predictedBps),
    gauge("weir_waiting_readers", "Downloads whose reading waits for the limit.", waitingReaders),
    gauge("weir_connections_open", "Requests under way.", connectionsOpen),
    gauge("weir_connections_max", "Most concurrent requests.", connectionsMax),
    counter("weir_crawled_seconds_total", "Time crawled, all runs.", totals.crawledMs / 1000),
  ];
}

function urlMetrics({ snapshot: { totals, pending } }: Look): Metric[] {
  return [
    counter("weir_pages_total", "Pages kept.", totals.pages),
    counter("weir_urls_known_total", "URLs ever admitted.", totals.known),
    gauge("weir_urls_pending", "URLs that wait.", pending),
    {
      name: "weir_urls_settled_total",
      type: "counter",
      help: "Settled URLs by kind.",
      samples: (["done", "failed", "skipped"] as const).map((settlement) =>
        sample({ settlement }, totals[settlement]),
      ),
    },
    {
      name: "weir_outcomes_total",
      type: "counter",
      help: "Settled URLs by outcome; HTTP errors by class.",
      samples: outcomeSamples(totals.outcomes),
    },
    {
      name: "weir_duplicates_total",
      type: "counter",
      help: "Pages that repeat another.",
      samples: [
        sample({ kind: "exact" }, totals.duplicatesExact),
        sample({ kind: "near" }, totals.duplicatesNear),
      ],
    },
  ];
}

function standings({ snapshot: { sites } }: Look): Sample[] {
  const counts = { met: 0, missed: 0, late: 0, in_time: 0 };
  for (const { deadlineMs, finishedMs, forecast } of sites) {
    if (deadlineMs === undefined) continue;
    if (finishedMs !== undefined) counts[finishedMs <= deadlineMs ? "met" : "missed"] += 1;
    else counts[forecast?.isLate === true ? "late" : "in_time"] += 1;
  }
  return Object.entries(counts).map(([standing, count]) => sample({ standing }, count));
}

/**
 * The closed list of outcomes, and one sum per class of HTTP errors, because servers can send any
 * number.
 */
function outcomeSamples(outcomes: Readonly<Record<string, number>>): Sample[] {
  const sums = new Map<string, number>(
    [...Object.keys(REASONS), "http_4xx", "http_5xx", "other"].map((reason) => [reason, 0]),
  );
  for (const [reason, count] of Object.entries(outcomes)) {
    const status = /^http_([45])\d\d$/.exec(reason)?.[1];
    const name = status === undefined ? reason : `http_${status}xx`;
    const known = sums.has(name) ? name : "other";
    sums.set(known, (sums.get(known) ?? 0) + count);
  }
  return Array.from(sums, ([reason, value]) => sample({ reason }, value));
}

function sample(labels: Readonly<Record<string, string>>, value: number): Sample {
  return { labels, value };
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, type: "gauge", help, samples: [{ value }] };
}

function counter(name: string, help: string, value: number): Metric {
  return { name, type: "counter", help, samples: [{ value }] };
}

/** Labels contain only our own words, so nothing must be escaped. */
function written(labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function number(value: number): string {
  if (value === Infinity) return "+Inf";
  return Number.isFinite(value) ? String(value) : "NaN";
}
