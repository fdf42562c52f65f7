/**
 * The outcomes of URLs, each with its evidence: from the store, a few at a time.
 *
 * The store has one reason per URL and no text. The evidence is found again from its sources: the
 * line of the site's stored robots.txt, the scope's patterns, recent network errors. So every
 * reason can be shown with its evidence, which costs no storage.
 */

import { visible } from "../base/visible.ts";
import { parseRobots } from "../fetch/robots.ts";
import { robotNameOf } from "../page/robots-tags.ts";
import type { Trouble } from "../control/snapshot.ts";
import type { StoreBrowser } from "../store/joined/browse.ts";
import type { StoredUrl } from "../store/store.ts";
import { globMatches } from "../url/scope.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, pathOf, writtenOf } from "../url/url.ts";
import { meaningOf } from "./reason-words.ts";
import type { UrlAnswer, UrlLine, UrlsAnswer } from "./shapes.ts";
import { fromBytes } from "./sites.ts";

export const URLS_MAX = 100;
const LINE_CHARACTERS_MAX = 500;

interface UrlsWish {
  readonly reason: string;
  readonly afterId: number;
  readonly count: number;
}

export function urlsAnswer(
  store: StoreBrowser,
  troubles: readonly Trouble[],
  { reason, afterId, count }: UrlsWish,
): UrlsAnswer {
  const { urls, nextAfterId } = store.ended(reason, afterId, count);
  const judge = new Judge(store, troubles);
  return {
    reason,
    meaning: meaningOf(reason),
    lines: urls.map((url) => lineOf(url, judge)),
    nextAfterId,
  };
}

export function urlAnswer(
  store: StoreBrowser,
  troubles: readonly Trouble[],
  id: number,
): UrlAnswer | undefined {
  const stored = store.url(id);
  if (stored === undefined) return undefined;
  const judge = new Judge(store, troubles);
  const { redirectedFromId } = stored;
  return {
    line: lineOf(stored, judge),
    reason: stored.reason,
    meaning: meaningOf(stored.reason ?? ""),
    evidence: judge.evidence(stored),
    redirectedFrom: redirectedFromId === 0 ? undefined : shownUrl(store, redirectedFromId),
    page: pageOf(store, id),
  };
}

function shownUrl(store: StoreBrowser, id: number): string | undefined {
  const stored = store.url(id);
  return stored && writtenOf(stored);
}

function lineOf(stored: StoredUrl, judge: Judge): UrlLine {
  const { id, depth, attempts } = stored;
  return {
    id,
    url: writtenOf(stored),
    depth,
    attempts,
    why: judge.evidence(stored)[0]?.text ?? "",
  };
}

function pageOf(store: StoreBrowser, id: number): UrlAnswer["page"] {
  const page = store.page(id);
  if (page === undefined) return undefined;
  const { likeness, archived } = page;
  return {
    status: page.status,
    contentType: page.contentType,
    title: page.title,
    language: page.language,
    wireBytes: page.wireBytes,
    bodyBytes: page.bodyBytes,
    durationMs: page.durationMs,
    fetchedAtMs: page.fetchedAtMs,
    remarks: page.remarks,
    copyOf:
      likeness === undefined
        ? undefined
        : { kind: likeness.kind, url: shownUrl(store, likeness.ofId) ?? "" },
    archive: archived === undefined ? undefined : `${archived.file} at ${archived.offset}`,
  };
}

type Evidence = UrlAnswer["evidence"][number];

/** Finds the evidence; robots.txt of each site is read once for a page of URLs. */
class Judge {
  readonly #store: StoreBrowser;
  readonly #troubles: ReadonlyMap<string, Trouble>;
  readonly #rules = new Map<string, ReturnType<typeof this.readRules>>();

  constructor(store: StoreBrowser, troubles: readonly Trouble[]) {
    this.#store = store;
    this.#troubles = new Map(troubles.map((trouble) => [trouble.url, trouble]));
  }

  evidence(stored: StoredUrl): Evidence[] {
    const { url, reason } = stored;
    const found: Evidence[] = [];
    if (reason === "robots_denied") found.push(...this.#byRobots(url));
    if (reason === "out_of_scope") found.push(this.#byScope(url));
    const detail = this.#troubles.get(writtenOf(stored))?.detail ?? "";
    if (detail !== "") found.push({ what: "What went wrong", text: visible(detail, 500) });
    return found;
  }

  #byRobots(url: string): Evidence[] {
    const site = siteOf(url as CanonicalUrl);
    if (!this.#rules.has(site)) this.#rules.set(site, this.readRules(site));
    const kept = this.#rules.get(site);
    const rule = kept?.rules.allows(pathOf(url as CanonicalUrl)).rule;
    if (kept === undefined || rule === undefined) return [];
    const line = (kept.lines[rule.line - 1] ?? "").slice(0, LINE_CHARACTERS_MAX);
    return [{ what: `robots.txt of ${site}, line ${rule.line}`, text: visible(line.trim(), 500) }];
  }

  readRules(site: string) {
    const robots = this.#store.site(site)?.robots;
    if (robots === undefined) return undefined;
    const token = robotNameOf(this.#store.recall("userAgent") ?? "");
    const bytes = Buffer.from(robots.text, "latin1");
    return { rules: parseRobots(bytes, token), lines: fromBytes(robots.text).split(/\r\n|\r|\n/) };
  }

  #byScope(url: string): Evidence {
    const { scope, include, exclude } = JSON.parse(this.#store.recall("identity") ?? "{}") as {
      readonly scope?: string;
      readonly include?: readonly string[];
      readonly exclude?: readonly string[];
    };
    const excluded = exclude?.find((glob) => globMatches(glob, url));
    const isMissed = (include?.length ?? 0) > 0 && !include?.some((glob) => globMatches(glob, url));
    const rule =
      excluded !== undefined
        ? `--exclude ${excluded}`
        : isMissed
          ? "no --include matches"
          : `outside --scope ${scope ?? "site"}`;
    return { what: "The rule of the scope", text: rule };
  }
}
