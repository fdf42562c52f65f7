/**
 * Gathers the links of a page: their targets, and in full only the unknown ones.
 *
 * Every link gets its fingerprint straight from the bytes of the page; the caller says which of
 * these it knows, and only the others become strings. Links of a page to itself are no links. All
 * resolve against the first valid `<base>`, also those before it: then the page is gone through
 * once more.
 *
 * All links of a page are taken, in time linear in its bytes. The first 2,000 unknown targets become
 * strings at once; of later ones only the place in the page is kept (11 bytes each), and they become
 * strings in portions (`later-links.ts`). Only candidates beyond the 1,000th of one srcset are left out,
 * and counted. What counts as a link is in `link-elements.ts`; how well this agrees with a whole HTML
 * parser in `docs/link-extraction.md`.
 */

import { fingerprintOf } from "../url/fingerprint.ts";
import {
  type CanonicalUrl,
  isRefused,
  type RefusalReason,
  type ResolvedUrl,
  resolveUrl,
  type UrlRules,
  writtenOf,
} from "../url/url.ts";
import { ATTRIBUTE, TAG } from "./html-names.ts";
import { END_OF_PAGE, HtmlScanner } from "./html-scanner.ts";
import {
  LaterLinks,
  type LinkPlace,
  NO_CANDIDATE,
  PORTION,
  srcsetCandidates,
} from "./later-links.ts";
import { isCanonicalHint, isNofollow, linkAttribute, NO_ATTRIBUTE } from "./link-elements.ts";
import { LinkResolver } from "./link-resolver.ts";
import { readRefresh } from "./meta-refresh.ts";
import {
  mergeRobotsTags,
  NO_ROBOTS_TAGS,
  readRobotsWords,
  type RobotsTags,
} from "./robots-tags.ts";
import { NOT_FOUND, TargetTable } from "./target-table.ts";
import { titleText } from "./text.ts";
import type { TextRuns } from "./text-runs.ts";

/** Targets for which room is kept between pages. */
const TARGETS_KEPT = 4096;
/** What the table holds for the page itself. */
const ITSELF = -2;
const NOT_FRESH = -1;

export interface HarvestOptions extends UrlRules {
  readonly images: boolean;
  /** `ignore`: a link marked with rel=nofollow is a link like any other. */
  readonly nofollow?: "obey" | "ignore";
  /** The name of meta tags for this crawler, in lower case. */
  readonly robotName: string;
}

export interface FreshLink extends ResolvedUrl {
  readonly high: number;
  readonly low: number;
  /** Whether every link of the page to it says so. */
  readonly nofollow: boolean;
}

export interface Harvest {
  /** Of the distinct targets in page order: 8 bytes each, big-endian. */
  readonly fingerprints: Uint8Array;
  /** The first targets that were not known, in page order. */
  readonly fresh: readonly FreshLink[];
  /** All further ones; undefined for a page with few. */
  readonly later: LaterLinks | undefined;
  /** What rel=canonical names: a hint, not a link. */
  readonly canonical: CanonicalUrl | undefined;
  readonly refresh: (ResolvedUrl & { readonly delaySeconds: number }) | undefined;
  readonly robots: RobotsTags;
  readonly title: string;
  /** What `<html lang>` says, when it looks like a language tag. */
  readonly language: string;
  /** Candidates of srcsets left out. */
  readonly capped: number;
  readonly refused: Readonly<Record<RefusalReason, number>>;
  /** Where the visible text lies; holds until the next harvest. */
  readonly runs: TextRuns;
}

export class LinkHarvester {
  readonly #options: HarvestOptions;
  readonly #robotName: Buffer;
  readonly #scanner: HtmlScanner;
  readonly #resolver: LinkResolver;
  readonly #targets = new TargetTable();
  #fingerprintBytes = new Uint8Array(8 * TARGETS_KEPT);
  #fingerprints = new DataView(this.#fingerprintBytes.buffer);
  /** Of each target: its place among the fresh ones, or `NOT_FRESH`. */
  #freshPlace = new Int32Array(TARGETS_KEPT);
  #isKnown: (high: number, low: number) => boolean = () => false;
  #html: Uint8Array = new Uint8Array(0);
  #base: ResolvedUrl = { url: "" as CanonicalUrl, written: undefined };
  #found = emptyFinding();

  constructor(options: HarvestOptions) {
    this.#options = options;
    this.#robotName = Buffer.from(options.robotName);
    this.#scanner = new HtmlScanner({ tellImages: options.images });
    this.#resolver = new LinkResolver(options);
  }

  /** The page must be in UTF-8, its URL canonical by the same rules as its links. */
  harvest(
    html: Uint8Array,
    page: ResolvedUrl,
    isKnown: (high: number, low: number) => boolean,
  ): Harvest {
    this.#html = html;
    this.#isKnown = isKnown;
    const lateBase = this.#gather(page, undefined);
    if (lateBase !== undefined) this.#gather(page, lateBase);
    const { targets, ...found } = this.#found;
    const fingerprints = Buffer.copyBytesFrom(this.#fingerprintBytes, 0, 8 * targets);
    const { titleStart, titleEnd, runs } = this.#scanner;
    return { ...found, fingerprints, title: titleText(html, titleStart, titleEnd), runs };
  }

  /** Goes through the page; answers a base that came too late for the links before it. */
  #gather(page: ResolvedUrl, knownBase: ResolvedUrl | undefined): ResolvedUrl | undefined {
    const scanner = this.#scanner;
    let base = knownBase;
    this.#found = emptyFinding();
    this.#setBase(base ?? page);
    this.#targets.reset();
    if (this.#freshPlace.length > TARGETS_KEPT) this.#allot(TARGETS_KEPT, 0);
    const self = fingerprintOf(page.url);
    this.#targets.find(self.high | 0, self.low | 0);
    this.#targets.put(self.high | 0, self.low | 0, ITSELF);
    scanner.start(this.#html);
    for (let tag = scanner.next(); tag !== END_OF_PAGE; tag = scanner.next()) {
      if (tag === TAG.base && base === undefined) {
        base = this.#baseOf(page);
        if (base === undefined || writtenOf(base) === writtenOf(page)) continue;
        if (this.#found.hasLinks) return base;
        this.#setBase(base);
      } else if (tag > TAG.other) this.#takeElement(tag);
    }
    return undefined;
  }

  #setBase(base: ResolvedUrl): void {
    this.#base = base;
    this.#resolver.setBase(base);
  }

  #baseOf(page: ResolvedUrl): ResolvedUrl | undefined {
    if (!this.#scanner.has(ATTRIBUTE.href)) return undefined;
    const text = this.#scanner.value(ATTRIBUTE.href);
    const base = resolveUrl(text, writtenOf(page), this.#options);
    return isRefused(base) ? undefined : base;
  }

  #takeElement(tag: number): void {
    const scanner = this.#scanner;
    const attribute = linkAttribute(scanner, this.#html, tag);
    if (attribute !== NO_ATTRIBUTE) {
      this.#found.hasLinks = true;
      const place = this.#placeOf(attribute);
      this.#takeTarget(this.#resolver.resolve(this.#html, place.start, place.end), place);
    }
    if (tag === TAG.meta) this.#takeMeta();
    else if (tag === TAG.link && isCanonicalHint(scanner, this.#html)) this.#takeCanonical();
    else if (tag === TAG.html) this.#takeLanguage();
    else if (tag >= TAG.img && tag <= TAG.source) this.#takeSrcset();
  }

  #placeOf(attribute: number): LinkPlace {
    const scanner = this.#scanner;
    const nofollow = this.#options.nofollow !== "ignore" && isNofollow(scanner, this.#html);
    const [start, end] = [scanner.valueStart(attribute), scanner.valueEnd(attribute)];
    return { start, end, candidate: NO_CANDIDATE, nofollow };
  }

  /** Takes what the resolver has just resolved, or counts why it could not. */
  #takeTarget(refusal: RefusalReason | undefined, place: LinkPlace): void {
    const found = this.#found;
    if (refusal !== undefined) {
      found.refused[refusal] += 1;
      return;
    }
    const { high, low } = this.#resolver;
    const known = this.#targets.find(high, low);
    const { nofollow } = place;
    if (known !== NOT_FOUND) {
      if (!nofollow && known !== ITSELF) this.#follow(this.#freshPlace[known] as number);
      return;
    }
    const number = found.targets;
    found.targets += 1;
    this.#targets.put(high, low, number);
    if (number === this.#freshPlace.length) this.#allot(2 * number, number);
    this.#fingerprints.setInt32(8 * number, high);
    this.#fingerprints.setInt32(8 * number + 4, low);
    const isKnown = this.#isKnown(high >>> 0, low >>> 0);
    this.#freshPlace[number] = isKnown ? NOT_FRESH : found.fresh.length + (found.later?.count ?? 0);
    if (isKnown) return;
    if (found.fresh.length === PORTION) {
      found.later ??= new LaterLinks(this.#html, this.#base, this.#options);
      return found.later.add(place);
    }
    const { written } = this.#resolver;
    const url = this.#resolver.url();
    found.fresh.push({ url, written, high: high >>> 0, low: low >>> 0, nofollow });
  }

  /** One link that may be followed is enough. */
  #follow(freshPlace: number): void {
    if (freshPlace === NOT_FRESH) return;
    const { fresh, later } = this.#found;
    const link = fresh[freshPlace];
    if (link === undefined) later?.follow(freshPlace - fresh.length);
    else link.nofollow = false;
  }

  #takeSrcset(): void {
    if (!this.#scanner.has(ATTRIBUTE.srcset)) return;
    this.#found.hasLinks = true;
    const place = this.#placeOf(ATTRIBUTE.srcset);
    const { taken, count } = srcsetCandidates(this.#html, place);
    this.#found.capped += count - taken.length;
    for (const [candidate, text] of taken.entries())
      this.#takeTarget(this.#resolver.resolveText(text), { ...place, candidate });
  }

  /** Makes room for so many targets; the first `kept` stay. */
  #allot(targets: number, kept: number): void {
    const [bytes, places] = [this.#fingerprintBytes, this.#freshPlace];
    this.#fingerprintBytes = new Uint8Array(8 * targets);
    this.#fingerprintBytes.set(bytes.subarray(0, 8 * kept));
    this.#fingerprints = new DataView(this.#fingerprintBytes.buffer);
    this.#freshPlace = new Int32Array(targets);
    this.#freshPlace.set(places.subarray(0, kept));
  }

  #takeMeta(): void {
    const scanner = this.#scanner;
    const found = this.#found;
    const name = ATTRIBUTE.name;
    if (scanner.valueIs(name, ROBOTS) || scanner.valueIs(name, this.#robotName))
      found.robots = mergeRobotsTags(
        found.robots,
        readRobotsWords(scanner.value(ATTRIBUTE.content)),
      );
    if (found.refresh !== undefined || !scanner.valueIs(ATTRIBUTE["http-equiv"], REFRESH)) return;
    const refresh = readRefresh(scanner.value(ATTRIBUTE.content));
    const target = refresh === undefined ? undefined : this.#hint(refresh.target);
    if (refresh !== undefined && target !== undefined)
      found.refresh = { ...target, delaySeconds: refresh.delaySeconds };
  }

  #takeCanonical(): void {
    this.#found.canonical ??= this.#hint(this.#scanner.value(ATTRIBUTE.href))?.url;
  }

  #hint(text: string): ResolvedUrl | undefined {
    this.#found.hasLinks = true;
    if (this.#resolver.resolveText(text) !== undefined) return undefined;
    return { url: this.#resolver.url(), written: this.#resolver.written };
  }

  #takeLanguage(): void {
    const language = this.#scanner.value(ATTRIBUTE.lang).trim();
    if (this.#found.language === "" && LANGUAGE_TAG.test(language)) this.#found.language = language;
  }
}

const ROBOTS = Buffer.from("robots");
const REFRESH = Buffer.from("refresh");
const LANGUAGE_TAG = /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,4}$/i;

function emptyFinding() {
  return {
    /** Whether a link has been resolved, so that a later base comes too late. */
    hasLinks: false,
    targets: 0,
    capped: 0,
    refused: { bad_url: 0, url_too_long: 0, scheme_refused: 0, port_refused: 0 },
    fresh: [] as (ResolvedUrl & { high: number; low: number; nofollow: boolean })[],
    later: undefined as LaterLinks | undefined,
    canonical: undefined as CanonicalUrl | undefined,
    refresh: undefined as Harvest["refresh"],
    robots: NO_ROBOTS_TAGS,
    language: "",
  };
}
