/**
 * All requests of the page with their answers: one table, so that a test can try each. Parameters
 * are read strictly, and bounded.
 */

import { readRateLog } from "../control/rate-log.ts";
import { urlAnswer, URLS_MAX, urlsAnswer } from "./outcomes.ts";
import { spansOf } from "./rates.ts";
import { meaningOf } from "./reason-words.ts";
import { hasSearch, searchAnswer } from "./search.ts";
import { serversAnswer } from "./servers.ts";
import type { ReasonsAnswer } from "./shapes.ts";
import { SITE_SORTS, type SiteSort } from "./shapes.ts";
import { COUNT_MAX, siteAnswer, sitesAnswer } from "./sites.ts";
import type { Watch } from "./watch.ts";

export interface Means {
  readonly watch: Watch;
  readonly folder: string;
  /** The file of server speeds, when not in the crawl's folder. */
  readonly speedsFile: string | undefined;
}

/** Returns a value for JSON; undefined when there is none. */
type Route = (means: Means, query: URLSearchParams) => Promise<unknown>;

const SPANS_MAX = 900;
const LAST_SECONDS_MAX = 600;
const FIND_CHARACTERS_MAX = 200;
const KEY_CHARACTERS_MAX = 4096;

export const ROUTES: Readonly<Record<string, Route>> = {
  "api/look": ({ watch }) => watch.look(),
  "api/sites": async ({ watch }, query) =>
    sitesAnswer(await watch.look(), watch.store, {
      sort: sortIn(query),
      descending: query.get("descending") !== "false",
      find: (query.get("find") ?? "").slice(0, FIND_CHARACTERS_MAX),
      from: wholeIn(query, "from", 0, Number.MAX_SAFE_INTEGER),
      count: wholeIn(query, "count", COUNT_MAX, COUNT_MAX),
    }),
  "api/site": async ({ watch }, query) =>
    siteAnswer(
      await watch.look(),
      watch.store,
      (query.get("site") ?? "").slice(0, KEY_CHARACTERS_MAX),
    ),
  "api/rates": async ({ watch }, query) => {
    const history = readRateLog(watch.folder, Date.now());
    const last = wholeIn(query, "last", 0, LAST_SECONDS_MAX);
    if (last === 0) return { spans: spansOf(history, SPANS_MAX) };
    return { spans: spansOf({ minutes: [], seconds: history.seconds.slice(-last) }, last) };
  },
  "api/outcomes": async ({ watch }, query) => {
    const { troubles } = (await watch.look()).snapshot;
    return urlsAnswer(watch.store, troubles, {
      reason: (query.get("reason") ?? "").slice(0, 60),
      afterId: wholeIn(query, "after", 0, Number.MAX_SAFE_INTEGER),
      count: wholeIn(query, "count", URLS_MAX, URLS_MAX),
    });
  },
  "api/reasons": async ({ watch }): Promise<ReasonsAnswer> => {
    const { outcomes } = (await watch.look()).snapshot.totals;
    const reasons = Object.keys(outcomes);
    return { meanings: Object.fromEntries(reasons.map((reason) => [reason, meaningOf(reason)])) };
  },
  "api/url": async ({ watch }, query) => {
    const { troubles } = (await watch.look()).snapshot;
    const id = wholeIn(query, "id", 0, Number.MAX_SAFE_INTEGER);
    return urlAnswer(watch.store, troubles, id);
  },
  "api/search": async ({ watch }, query) => {
    const words = (query.get("words") ?? "").slice(0, FIND_CHARACTERS_MAX);
    return hasSearch(watch.folder) ? searchAnswer(watch.folder, words) : undefined;
  },
  "api/servers": async ({ folder, speedsFile }) => serversAnswer(folder, speedsFile),
};

function sortIn(query: URLSearchParams): SiteSort {
  return SITE_SORTS.find((sort) => sort === query.get("sort")) ?? "due";
}

/** A whole number from 0 on; the fallback for other texts, at most `most`. */
function wholeIn(query: URLSearchParams, name: string, fallback: number, most: number): number {
  const text = query.get(name) ?? "";
  return /^\d{1,15}$/.test(text) ? Math.min(most, Number(text)) : fallback;
}
