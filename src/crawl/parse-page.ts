/** Parses a fetched body: type, charset, text, topic, links. Has no side effects. */

import type { Settings } from "../config/schema.ts";
import type { FetchedPage } from "../fetch/fetcher.ts";
import { detectCharset, toUtf8 } from "../page/charset.ts";
import type { FreshLink, Harvest } from "../page/links.ts";
import type { LaterLinks } from "../page/later-links.ts";
import { type ListedLink, listLinks } from "../page/link-list.ts";
import { packText } from "../page/packed-text.ts";
import { marksOf } from "../page/page-marks.ts";
import type { Likeness, Remark } from "../page/page.ts";
import { type PageAside, withoutKnown } from "../page/page-thread.ts";
import {
  mergeRobotsTags,
  NO_ROBOTS_TAGS,
  readRobotsHeaders,
  robotNameOf,
  type RobotsTags,
} from "../page/robots-tags.ts";
import { PageScanner, type Scan, type ScanOptions } from "../page/scan-page.ts";
import { essenceOf } from "../page/sniff.ts";
import { RUNS_MAX } from "../page/text-runs.ts";
import { visibleText } from "../page/text.ts";
import type { Classifier, Verdict } from "../topics/classify.ts";
import type { WaitingUrl } from "../store/store.ts";
import { type ResolvedUrl, writtenOf } from "../url/url.ts";
import type { CrawledPage } from "./hooks.ts";

const TEXT_CHARACTERS_MAX = 4_000_000;
const INDEXED_BYTES_MAX = 2 ** 20;
/** Of a text that is no HTML, before it is decoded: UTF-16 takes two bytes for one. */
const PLAIN_BYTES_MAX = 2 * INDEXED_BYTES_MAX;
/** Links of a page whose words are used to order the queue, at most. */
const ANCHORS_MAX = 20_000;

export interface Reading {
  readonly digest: Uint8Array;
  readonly charset: string;
  readonly title: string;
  readonly language: string;
  readonly nearHigh: number;
  readonly nearLow: number;
  /** Fingerprints of all distinct targets. */
  readonly links: Uint8Array;
  /** Targets that may be followed, without those seen recently. */
  readonly fresh: readonly FreshLink[];
  /** Further targets of a page with very many links; not yet filtered by `nofollow`. */
  readonly later: LaterLinks | undefined;
  readonly refresh: ResolvedUrl | undefined;
  readonly remarks: readonly Remark[];
  /** Links left out, by rule. */
  readonly refusedLinks: Readonly<Record<string, number>>;
  /** Visible text for the full-text index; empty without an index. */
  readonly text: Uint8Array;
  /** Its topic; undefined for pages without words, and if pages are not classified. */
  readonly verdict: Verdict | undefined;
  /** Its links with their words, if these order the queue. */
  readonly anchors: readonly ListedLink[];
  /** Probability that it is about the wanted topic; 0 without one. */
  readonly onTopic: number;
}

/** The topic of a page, and the part of all contents that it belongs to. */
export interface Placement {
  /** Empty if the model knows no topic for it. */
  readonly topic: string;
  readonly confidence: number;
  /** undefined: it stays where it was fetched. */
  readonly bucket: number | undefined;
}

/** Decides where a page belongs, from its content only. */
export interface Placing {
  place(page: Pick<Reading, "digest" | "verdict">): Placement;
}

const NO_LINKS = new Uint8Array(0);
const NO_TEXT = new Uint8Array(0);
const NO_REFUSALS: Readonly<Record<string, number>> = {};

/** What concerns the reading of bodies. */
export function scanOptionsOf(settings: Settings): ScanOptions {
  const { dropQuery, stripSessionIds, images, nofollow, nearDuplicates } = settings;
  return {
    dropQuery,
    stripSessionIds,
    images,
    nofollow,
    nearDuplicates,
    robotName: robotNameOf(settings.userAgent),
    anchorsMax: settings.order === "topic" ? ANCHORS_MAX : 0,
  };
}

export class PageReader {
  readonly redirectsMax: number;
  readonly #settings: Settings;
  readonly #options: ScanOptions;
  readonly #scanner: PageScanner;
  /** undefined where all bodies are read in this thread. */
  readonly #aside: PageAside | undefined;
  readonly #classifier: Classifier | undefined;
  /** The number of the wanted topic; -1 without one. */
  readonly #target: number;

  constructor(settings: Settings, classifier?: Classifier, aside?: PageAside) {
    this.#classifier = classifier;
    this.#target = classifier?.model.trained.topics.indexOf(settings.topic ?? "") ?? -1;
    this.#settings = settings;
    this.redirectsMax = settings.redirectsMax;
    this.#options = scanOptionsOf(settings);
    this.#scanner = new PageScanner(this.#options);
    this.#aside = aside;
  }

  /** A promise for a large body, which another thread reads. */
  read(
    url: ResolvedUrl,
    page: FetchedPage,
    isKnown: (high: number, low: number) => boolean,
  ): Reading | Promise<Reading> {
    const { contentType, body } = page;
    if (this.#aside?.takes(body.length) !== true)
      return this.#reading(page, this.#scanner.scan({ url, contentType, body }, isKnown));
    return this.#aside.scan({ url, contentType, body }).then((scan) => {
      if (scan.kind !== "html") return this.#reading(page, scan);
      return this.#reading(page, { ...scan, harvest: withoutKnown(scan.harvest, isKnown) });
    });
  }

  #reading(page: FetchedPage, scan: Scan): Reading {
    const { digest, kind } = scan;
    if (kind !== "html") {
      const remarks: Remark[] = kind === "other" ? [...page.remarks] : [...page.remarks, kind];
      const text = this.#settings.searchIndex ? plainText(page) : NO_TEXT;
      if (text.length >= INDEXED_BYTES_MAX) remarks.push("text_capped");
      return { ...EMPTY, digest, remarks, text };
    }
    const { charset, html, harvest, nearHigh, nearLow, anchors } = scan;
    const { title, language, runs } = harvest;
    const verdict = this.#classifier?.ofRuns(html, runs);
    const text = this.#settings.searchIndex ? packText(html, runs, INDEXED_BYTES_MAX) : NO_TEXT;
    const isCut = text.length >= INDEXED_BYTES_MAX || runs.count >= RUNS_MAX;
    const follow = followable(harvest, page, this.#options.robotName, this.#settings.nofollow);
    const marks = marksOf({ html, runs, links: harvest.fingerprints.length / 8 });
    const remarks = [...follow.remarks, ...marks];
    const isJudged = verdict?.kind === "topic";
    return {
      digest,
      charset,
      title,
      language,
      nearHigh,
      nearLow,
      links: harvest.fingerprints,
      text,
      verdict,
      anchors,
      onTopic: isJudged ? (this.#classifier?.probabilities[this.#target] ?? 0) : 0,
      ...follow,
      remarks: isCut ? [...remarks, "text_capped"] : remarks,
    };
  }
}

/** The text of a page that is not HTML. */
function plainText({ contentType, body }: FetchedPage): Uint8Array {
  const type = essenceOf(contentType);
  if (!type.startsWith("text/") || type === "text/html") return NO_TEXT;
  const indexed = body.subarray(0, PLAIN_BYTES_MAX);
  return toUtf8(indexed, detectCharset(indexed, contentType).name).slice(0, INDEXED_BYTES_MAX);
}

const EMPTY: Omit<Reading, "digest" | "remarks" | "text"> = {
  charset: "",
  title: "",
  language: "",
  nearHigh: 0,
  nearLow: 0,
  links: NO_LINKS,
  fresh: [],
  later: undefined,
  refresh: undefined,
  refusedLinks: NO_REFUSALS,
  verdict: undefined,
  anchors: [],
  onTopic: 0,
};

function robotsHeaders({ reply }: FetchedPage, robotName: string): RobotsTags {
  const values: string[] = [];
  for (const [name, value] of reply.headers) if (name === "x-robots-tag") values.push(value);
  return values.length === 0 ? NO_ROBOTS_TAGS : readRobotsHeaders(values, robotName);
}

/** The links to follow, after nofollow rules and limits. */
function followable(
  harvest: Harvest,
  page: FetchedPage,
  robotName: string,
  nofollow: Settings["nofollow"],
): Pick<Reading, "fresh" | "later" | "refresh" | "remarks" | "refusedLinks"> {
  const tags = mergeRobotsTags(harvest.robots, robotsHeaders(page, robotName));
  const remarks: Remark[] = [...page.remarks];
  if (harvest.capped > 0) remarks.push("outlinks_capped");
  if (tags.noindex) remarks.push("noindex");
  if (tags.nofollow) remarks.push("nofollow");
  if (tags.nofollow && nofollow === "obey")
    return {
      fresh: [],
      later: undefined,
      refresh: undefined,
      remarks,
      refusedLinks: { nofollow: harvest.fresh.length + (harvest.later?.count ?? 0) },
    };
  const fresh = harvest.fresh.filter((link) => !link.nofollow);
  return {
    fresh,
    later: harvest.later,
    refresh: harvest.refresh,
    remarks,
    refusedLinks: refusals(harvest, harvest.fresh.length - fresh.length),
  };
}

function refusals(harvest: Harvest, nofollow: number): Readonly<Record<string, number>> {
  const { bad_url, url_too_long, scheme_refused, port_refused } = harvest.refused;
  const count = bad_url + url_too_long + scheme_refused + port_refused + harvest.capped + nofollow;
  if (count === 0) return NO_REFUSALS;
  return { ...harvest.refused, outlinks_capped: harvest.capped, nofollow };
}

export function pageForHook(
  row: WaitingUrl,
  page: FetchedPage,
  reading: Reading,
  duplicate: Likeness["kind"] | undefined,
): CrawledPage {
  const html = (): Uint8Array =>
    toUtf8(page.body, reading.charset === "" ? "utf-8" : reading.charset);
  return {
    url: writtenOf(row),
    status: page.reply.status,
    depth: row.depth,
    headers: page.reply.headers.map(([name, value]) => [name, value]),
    contentType: page.contentType,
    charset: reading.charset,
    title: reading.title,
    body: page.body,
    remarks: reading.remarks,
    duplicate,
    text: () => (reading.charset === "" ? "" : visibleText(html(), TEXT_CHARACTERS_MAX)),
    links: () => (reading.charset === "" ? [] : listLinks(html(), writtenOf(row)).map(asListed)),
  };
}

function asListed({
  text,
  nofollow,
  ...link
}: ListedLink): ReturnType<CrawledPage["links"]>[number] {
  return { url: writtenOf(link), text, nofollow };
}
