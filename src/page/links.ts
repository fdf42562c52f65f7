/**
 * Gathers the links of a page: who they point to, and in full only those that nobody knew.
 *
 * Every link gets its fingerprint straight from the bytes of the page; the caller says which of
 * these it knows, and only the others become strings. Links of a page to itself are no links. All
 * resolve against the first valid `<base>`, also those before it: then the page is gone through
 * once more.
 *
 * Limits: 2,000 distinct targets, 20,000 link elements looked at; what is beyond is only counted.
 * So a page takes linear time whatever it holds. What counts as a link is in `link-elements.ts`;
 * how well this agrees with a whole HTML parser in `docs/link-extraction.md`.
 */

import { fingerprintOf } from "../url/fingerprint.ts";
import { canonicalUrl, type CanonicalUrl, type RefusalReason, type UrlRules } from "../url/url.ts";
import { ATTRIBUTE, TAG } from "./html-names.ts";
import { END_OF_PAGE, HtmlScanner } from "./html-scanner.ts";
import { isCanonicalHint, isNofollow, linkAttribute, NO_ATTRIBUTE } from "./link-elements.ts";
import { LinkResolver } from "./link-resolver.ts";
import { readRefresh } from "./meta-refresh.ts";
import {
  mergeRobotsTags,
  NO_ROBOTS_TAGS,
  readRobotsWords,
  type RobotsTags,
} from "./robots-tags.ts";
import { srcsetTargets } from "./srcset.ts";
import { NOT_FOUND, TargetTable, TARGETS_MAX } from "./target-table.ts";
import { titleText } from "./text.ts";
import type { TextRuns } from "./text-runs.ts";

const ELEMENTS_MAX = 20_000;
/** What the table holds for the page itself. */
const ITSELF = TARGETS_MAX;
const NOT_FRESH = -1;

export interface HarvestOptions extends UrlRules {
  readonly images: boolean;
  /** The name of meta tags for this crawler, in lower case. */
  readonly robotName: string;
}

export interface FreshLink {
  readonly url: CanonicalUrl;
  readonly high: number;
  readonly low: number;
  /** Whether every link of the page to it says so. */
  readonly nofollow: boolean;
}

export interface Harvest {
  /** Of the distinct targets in page order: 8 bytes each, big-endian. */
  readonly fingerprints: Uint8Array;
  /** The targets that were not known, in page order. */
  readonly fresh: readonly FreshLink[];
  /** What rel=canonical names: a hint, not a link. */
  readonly canonical: CanonicalUrl | undefined;
  readonly refresh: { readonly url: CanonicalUrl; readonly delaySeconds: number } | undefined;
  readonly robots: RobotsTags;
  readonly title: string;
  /** What `<html lang>` says, when it looks like a language tag. */
  readonly language: string;
  /** Link elements beyond the limits. */
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
  readonly #fingerprintBytes = new Uint8Array(8 * TARGETS_MAX);
  readonly #fingerprints = new DataView(this.#fingerprintBytes.buffer);
  /** Of each target: its place among the fresh ones, or `NOT_FRESH`. */
  readonly #freshPlace = new Int32Array(TARGETS_MAX);
  #isKnown: (high: number, low: number) => boolean = () => false;
  #html: Uint8Array = new Uint8Array(0);
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
    page: CanonicalUrl,
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
  #gather(page: CanonicalUrl, knownBase: CanonicalUrl | undefined): CanonicalUrl | undefined {
    const scanner = this.#scanner;
    let base = knownBase;
    this.#found = emptyFinding();
    this.#resolver.setBase(base ?? page);
    this.#targets.reset();
    const self = fingerprintOf(page);
    this.#targets.find(self.high | 0, self.low | 0);
    this.#targets.put(self.high | 0, self.low | 0, ITSELF);
    scanner.start(this.#html);
    for (let tag = scanner.next(); tag !== END_OF_PAGE; tag = scanner.next()) {
      if (tag === TAG.base && base === undefined) {
        base = this.#baseOf(page);
        if (base === undefined || base === page) continue;
        if (this.#found.elements > 0) return base;
        this.#resolver.setBase(base);
      } else if (tag > TAG.other) this.#takeElement(tag);
    }
    return undefined;
  }

  #baseOf(page: CanonicalUrl): CanonicalUrl | undefined {
    if (!this.#scanner.has(ATTRIBUTE.href)) return undefined;
    const base = canonicalUrl(this.#scanner.value(ATTRIBUTE.href), page, this.#options);
    return typeof base === "string" ? base : undefined;
  }

  #takeElement(tag: number): void {
    const scanner = this.#scanner;
    const attribute = linkAttribute(scanner, this.#html, tag);
    if (attribute !== NO_ATTRIBUTE && this.#mayTake()) {
      const start = scanner.valueStart(attribute);
      const refusal = this.#resolver.resolve(this.#html, start, scanner.valueEnd(attribute));
      this.#takeTarget(refusal);
    }
    if (tag === TAG.meta) this.#takeMeta();
    else if (tag === TAG.link && isCanonicalHint(scanner, this.#html)) this.#takeCanonical();
    else if (tag === TAG.html) this.#takeLanguage();
    else if (tag >= TAG.img && tag <= TAG.source) this.#takeSrcset();
  }

  /** Whether there is room for one more link element; counts it either way. */
  #mayTake(): boolean {
    const found = this.#found;
    found.elements += 1;
    if (found.elements <= ELEMENTS_MAX && found.targets < TARGETS_MAX) return true;
    found.capped += 1;
    return false;
  }

  /** Takes what the resolver has just resolved, or counts why it could not. */
  #takeTarget(refusal: RefusalReason | undefined): void {
    const found = this.#found;
    if (refusal !== undefined) {
      found.refused[refusal] += 1;
      return;
    }
    const { high, low } = this.#resolver;
    const known = this.#targets.find(high, low);
    const nofollow = isNofollow(this.#scanner, this.#html);
    if (known !== NOT_FOUND) {
      if (!nofollow && known !== ITSELF) this.#follow(this.#freshPlace[known] as number);
      return;
    }
    const number = found.targets;
    found.targets += 1;
    this.#targets.put(high, low, number);
    this.#fingerprints.setInt32(8 * number, high);
    this.#fingerprints.setInt32(8 * number + 4, low);
    const isKnown = this.#isKnown(high >>> 0, low >>> 0);
    this.#freshPlace[number] = isKnown ? NOT_FRESH : found.fresh.length;
    if (isKnown) return;
    found.fresh.push({ url: this.#resolver.url(), high: high >>> 0, low: low >>> 0, nofollow });
  }

  /** One link that may be followed is enough. */
  #follow(freshPlace: number): void {
    const fresh = freshPlace === NOT_FRESH ? undefined : this.#found.fresh[freshPlace];
    if (fresh !== undefined) fresh.nofollow = false;
  }

  #takeSrcset(): void {
    if (!this.#scanner.has(ATTRIBUTE.srcset)) return;
    for (const text of srcsetTargets(this.#scanner.value(ATTRIBUTE.srcset)))
      if (this.#mayTake()) this.#takeTarget(this.#resolver.resolveText(text));
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
    const url = refresh === undefined ? undefined : this.#hint(refresh.target);
    if (refresh !== undefined && url !== undefined)
      found.refresh = { url, delaySeconds: refresh.delaySeconds };
  }

  #takeCanonical(): void {
    this.#found.canonical ??= this.#hint(this.#scanner.value(ATTRIBUTE.href));
  }

  #hint(text: string): CanonicalUrl | undefined {
    this.#found.elements += 1;
    return this.#resolver.resolveText(text) === undefined ? this.#resolver.url() : undefined;
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
    elements: 0,
    targets: 0,
    capped: 0,
    refused: { bad_url: 0, url_too_long: 0, scheme_refused: 0, port_refused: 0 },
    fresh: [] as { url: CanonicalUrl; high: number; low: number; nofollow: boolean }[],
    canonical: undefined as CanonicalUrl | undefined,
    refresh: undefined as Harvest["refresh"],
    robots: NO_ROBOTS_TAGS,
    language: "",
  };
}
