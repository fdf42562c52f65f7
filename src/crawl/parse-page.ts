/** Reads a fetched body: what it is, what it says, where its links lead. Changes nothing else. */

import type { Settings } from "../config/schema.ts";
import type { FetchedPage } from "../fetch/fetcher.ts";
import { detectCharset, toUtf8 } from "../page/charset.ts";
import { digestOf } from "../page/digest.ts";
import { type FreshLink, type Harvest, LinkHarvester } from "../page/links.ts";
import type { LaterLinks } from "../page/later-links.ts";
import { type ListedLink, listLinks } from "../page/link-list.ts";
import { NearHasher } from "../page/near-duplicate.ts";
import { packText } from "../page/packed-text.ts";
import { marksOf } from "../page/page-marks.ts";
import type { Likeness, Remark } from "../page/page.ts";
import {
  mergeRobotsTags,
  NO_ROBOTS_TAGS,
  readRobotsHeaders,
  robotNameOf,
  type RobotsTags,
} from "../page/robots-tags.ts";
import { essenceOf, judgeBody } from "../page/sniff.ts";
import { RUNS_MAX } from "../page/text-runs.ts";
import { visibleText } from "../page/text.ts";
import type { Classifier, Verdict } from "../topics/classify.ts";
import type { WaitingUrl } from "../store/store.ts";
import { type ResolvedUrl, writtenOf } from "../url/url.ts";
import type { CrawledPage } from "./hooks.ts";

const TEXT_CHARACTERS_MAX = 4_000_000;
const INDEXED_BYTES_MAX = 2 ** 20;
/** Links of a page whose words order the queue. */
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
  /** Targets not met lately that may be followed. */
  readonly fresh: readonly FreshLink[];
  /** Further ones, of a page with very many; to be filtered by `nofollow`. */
  readonly later: LaterLinks | undefined;
  readonly refresh: ResolvedUrl | undefined;
  readonly remarks: readonly Remark[];
  /** Links left out, by why. */
  readonly refusedLinks: Readonly<Record<string, number>>;
  /** What it says, for the full-text index; empty where there is none. */
  readonly text: Uint8Array;
  /** What it is about; undefined where nobody asked, and for what has no words. */
  readonly verdict: Verdict | undefined;
  /** Its links with their words, where these order the queue. */
  readonly anchors: readonly ListedLink[];
  /** How likely it is about the topic that is looked for; 0 where none is. */
  readonly onTopic: number;
}

/** What a page is about, and which part of all contents it belongs to. */
export interface Placement {
  /** Empty when it is about nothing that the model knows. */
  readonly topic: string;
  readonly confidence: number;
  /** undefined: it stays where it was fetched. */
  readonly bucket: number | undefined;
}

/** What decides where a page belongs: its content, and nothing else. */
export interface Placing {
  place(page: Pick<Reading, "digest" | "verdict">): Placement;
}

const NO_LINKS = new Uint8Array(0);
const NO_TEXT = new Uint8Array(0);
const NO_REFUSALS: Readonly<Record<string, number>> = {};

export class PageReader {
  readonly redirectsMax: number;
  readonly #settings: Settings;
  readonly #robotName: string;
  readonly #harvester: LinkHarvester;
  readonly #near = new NearHasher();
  readonly #classifier: Classifier | undefined;
  /** The number of the topic that is looked for. */
  readonly #target: number;

  constructor(settings: Settings, classifier?: Classifier) {
    this.#classifier = classifier;
    this.#target = classifier?.model.trained.topics.indexOf(settings.topic ?? "") ?? -1;
    this.#settings = settings;
    this.redirectsMax = settings.redirectsMax;
    this.#robotName = robotNameOf(settings.userAgent);
    this.#harvester = new LinkHarvester({ ...settings, robotName: this.#robotName });
  }

  read(
    url: ResolvedUrl,
    page: FetchedPage,
    isKnown: (high: number, low: number) => boolean,
  ): Reading {
    const digest = digestOf(page.body);
    const kind = judgeBody(page.contentType, page.body);
    if (kind !== "html") {
      const remarks: Remark[] = kind === "other" ? [...page.remarks] : [...page.remarks, kind];
      const text = this.#settings.searchIndex ? plainText(page) : NO_TEXT;
      if (text.length >= INDEXED_BYTES_MAX) remarks.push("text_capped");
      return { ...EMPTY, digest, remarks, text };
    }
    const charset = detectCharset(page.body, page.contentType).name;
    const html = toUtf8(page.body, charset);
    const harvest = this.#harvester.harvest(html, url, isKnown);
    if (this.#settings.nearDuplicates) this.#near.hash(html, harvest.runs);
    const verdict = this.#classifier?.ofRuns(html, harvest.runs);
    const text = this.#settings.searchIndex
      ? packText(html, harvest.runs, INDEXED_BYTES_MAX)
      : NO_TEXT;
    const isCut = text.length >= INDEXED_BYTES_MAX || harvest.runs.count >= RUNS_MAX;
    const follow = followable(harvest, page, this.#robotName, this.#settings.nofollow);
    const links = harvest.fingerprints.length / 8;
    const marks = marksOf({ html, runs: harvest.runs, links });
    const remarks = [...follow.remarks, ...marks];
    const isJudged = verdict?.kind === "topic";
    return {
      digest,
      charset,
      title: harvest.title,
      language: harvest.language,
      nearHigh: this.#near.high,
      nearLow: this.#near.low,
      links: harvest.fingerprints,
      text,
      verdict,
      anchors: this.#settings.order === "topic" ? listLinks(html, writtenOf(url), ANCHORS_MAX) : [],
      onTopic: isJudged ? (this.#classifier?.probabilities[this.#target] ?? 0) : 0,
      ...follow,
      remarks: isCut ? [...remarks, "text_capped"] : remarks,
    };
  }
}

/** Text that is not HTML says what it says. */
function plainText({ contentType, body }: FetchedPage): Uint8Array {
  const type = essenceOf(contentType);
  if (!type.startsWith("text/") || type === "text/html") return NO_TEXT;
  return toUtf8(body, detectCharset(body, contentType).name).slice(0, INDEXED_BYTES_MAX);
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

/** What the page's own wishes, and the limits, leave to be followed. */
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
