/**
 * Decides whether a newly found URL is admitted, so that no site can take over the crawl.
 *
 * Endless sites show in four ways. They go deep: in links from a seed, in path segments, or in repetitions of
 * the same segments. They have many URLs of one shape. They serve the same content under
 * many URLs of one shape. Or they are too large for the number of links from the rest of the web:
 * a domain starts with a small budget that grows with the number of other domains linking to it
 * (after STAR in IRLbot, Lee et al., WWW 2008) or with the crawl, and only domains named by the operator get
 * the large one.
 *
 * Shapes whose pages have all been worthless (copies, near copies, not to be indexed) are requested last, and then
 * only a sample of them, until one of the sample is content. A few patterns of known software
 * (`known-software.ts`) need less evidence.
 *
 * Called once for each new URL; counts the admitted ones. Only shapes that can have siblings are
 * counted, and the rarest are dropped if a site has too many: shapes heavy enough to be a trap
 * stay. The memory of a site is bounded by its limit of shapes, and far less in practice.
 *
 * Well under 1 µs per URL.
 */

import { assert } from "../base/assert.ts";
import { kindBesideContent } from "./known-software.ts";
import { shapeOf, type Shape } from "./traps-shape.ts";

type TrapRule =
  | "depth_limit"
  | "trap_depth"
  | "trap_repeat"
  | "trap_pattern"
  | "trap_duplicates"
  | "trap_budget"
  | "trap_domain";

export interface TrapLimits {
  readonly hopsMax: number;
  readonly segmentsMax: number;
  /** URLs of one shape, without and with a query. */
  readonly shapeUrlsMax: number;
  readonly queryShapeUrlsMax: number;
  /** URLs with any query on paths of one shape: against all combinations of parameters. */
  readonly queriesPerPathShapeMax: number;
  readonly shapesPerSiteMax: number;
  /** Surplus of copies over originals that closes a shape; four near copies count as one. */
  readonly copiesLeadMax: number;
  /** Maximum surplus of originals that can offset later copies. */
  readonly originalsCreditMax: number;
  readonly siteUrlsMax: number;
  readonly trustedDomainUrlsMax: number;
  readonly domainUrlsMin: number;
  readonly domainUrlsPerLinkingDomain: number;
  /** Share of all admitted URLs that a domain may always have. */
  readonly domainShareMax: number;
  readonly domainsMax: number;
  /** Whether shapes of worthless pages are requested last, sampled, and closed. */
  readonly learns: boolean;
}

export const TRAP_DEFAULTS: TrapLimits = {
  hopsMax: 50,
  segmentsMax: 20,
  shapeUrlsMax: 50_000,
  queryShapeUrlsMax: 10_000,
  queriesPerPathShapeMax: 20_000,
  shapesPerSiteMax: 256,
  copiesLeadMax: 20,
  originalsCreditMax: 30,
  siteUrlsMax: 1_000_000,
  trustedDomainUrlsMax: 1_000_000,
  domainUrlsMin: 5_000,
  domainUrlsPerLinkingDomain: 1_000,
  domainShareMax: 0.05,
  domainsMax: 200_000,
  learns: true,
};

export interface NewUrl {
  readonly siteId: number;
  /** The registrable domain, or the host if it has none. */
  readonly domain: string;
  readonly path: string;
  /** Without its question mark; empty if there is none. */
  readonly query: string;
  /** Links from a seed: 0 for a seed and for the target of a seed's redirect. */
  readonly depth: number;
  /** The registrable domain of the page that linked here; undefined for seeds. */
  readonly fromDomain: string | undefined;
}

/** The earlier page of the same site that a page repeats; a copy of another site's page counts as an original. */
export interface Original {
  readonly path: string;
  readonly query: string;
  readonly likeness: "exact" | "near";
}

/** What a page was worth: a near copy may be content, so that it takes four of them to count as one copy. */
export type Worth = "content" | "near copy" | "worthless";

/** When a URL is requested: in its turn, behind all others of its site, or not at all. */
export type When = "now" | "last" | "never";

interface Count {
  urls: number;
  /** Copies minus originals, in quarters. */
  lead: number;
  /** Worthless pages minus twice those of content, in quarters; below zero, the shape has content. */
  waste: number;
  /** URLs of a worthless shape that have been judged; a sample of them is requested. */
  judged: number;
}

type SiteCounts = Count & {
  shapes: Map<number, Count> | undefined;
  /** Whether any page of it was content. */
  hasContent: boolean;
};

type PageOfSite = Pick<NewUrl, "siteId" | "path" | "query">;

const NOTHING_COUNTED: Count = { urls: 0, lead: 0, waste: 0, judged: 0 };

interface DomainCounts {
  urls: number;
  isTrusted: boolean;
  /** One bit for each 32nd of the domains that link here. */
  linkers: number;
}

const FORMAT = "1";
const SAVED_SHAPES_MAX = 32;
const SAVED_URLS_MIN = 64;
const COPY_QUARTERS = 4;
const QUARTERS = { exact: COPY_QUARTERS, near: 1 } as const;
const LINKER_BITS = 32;
/** A shape is worthless after so many pages, in quarters, and after fewer if known software makes it. */
const WASTE_MAX = 6 * COPY_QUARTERS;
const KNOWN_WASTE_MAX = 2 * COPY_QUARTERS;
/** A page of content outweighs so many worthless ones, up to the credit of ten pages of content. */
const CONTENT_WEIGHT = 2;
const CONTENT_CREDIT_MAX = 20 * COPY_QUARTERS;
/** Of a worthless shape the 1st URL is requested, and then those whose number is a power of this. */
const SAMPLE_BASE = 4;
const KNOWN_SAMPLE_BASE = 16;

export class Traps {
  readonly #limits: TrapLimits;
  readonly #leadMax: number;
  readonly #creditMax: number;
  readonly #sites = new Map<number, SiteCounts>();
  readonly #domains = new Map<string, DomainCounts>();
  #urls = 0;
  /** One bit for each forgotten site: its URLs stay in its domain's count. */
  #forgotten = new Uint8Array(128);

  constructor(limits: TrapLimits) {
    assert(limits.shapesPerSiteMax >= 4, "a site may have at least four shapes");
    this.#limits = limits;
    this.#leadMax = limits.copiesLeadMax * COPY_QUARTERS;
    this.#creditMax = limits.originalsCreditMax * COPY_QUARTERS;
  }

  /** Gives a domain the large budget, because the operator named it. */
  trust(domain: string): void {
    this.#domainOf(domain).isTrusted = true;
  }

  /** Admits a new URL and counts it, or returns the rule that refuses it. Seeds are always admitted. */
  admit(url: NewUrl): TrapRule | undefined {
    const shape = shapeOf(url.path, url.query);
    const rule = url.depth === 0 ? undefined : this.#judge(url, shape);
    if (rule !== undefined) return rule;
    const site = this.#siteOf(url.siteId);
    const domain = this.#domainOf(url.domain);
    this.#urls += 1;
    site.urls += 1;
    domain.urls += 1;
    if (shape.isCommon) this.#count(site, shape, url.query !== "");
    return undefined;
  }

  /**
   * Records whether a fetched page was an original. A shape whose pages repeat each other is closed, and so are
   * session ids that lead to pages known without them. Copies across shapes are mirrors, not traps.
   */
  recordPage(page: PageOfSite, original: Original | undefined): void {
    if (!this.#limits.learns) return;
    const site = this.#siteOf(page.siteId);
    const shape = shapeOf(page.path, page.query);
    const step = original === undefined ? -COPY_QUARTERS : QUARTERS[original.likeness];
    this.#shift(site, step);
    if (original === undefined && !shape.isCommon) return;
    const model = original === undefined ? shape : shapeOf(original.path, original.query);
    if (model.whole === shape.whole) this.#shift(this.#shapeCount(site, shape.whole), step);
    if (model.path === shape.path && shape.session !== 0)
      this.#shift(this.#shapeCount(site, anyPath(shape)), step);
  }

  /** Learns what a page was worth. Returns whether its shape has become worthless with it. */
  recordWorth({ siteId, path, query }: PageOfSite, worth: Worth): boolean {
    if (!this.#limits.learns) return false;
    const site = this.#siteOf(siteId);
    if (worth === "content") site.hasContent = true;
    // A site that asks not to be indexed at all is not worthless.
    if (!site.hasContent && worth === "worthless") return false;
    const { keys, isKnown } = groupsOf(path, query);
    const wasteMax = isKnown ? KNOWN_WASTE_MAX : WASTE_MAX;
    // What known software makes beside its content, and is like another page, is no content.
    const step =
      worth === "content"
        ? -CONTENT_WEIGHT * COPY_QUARTERS
        : QUARTERS[worth === "worthless" || isKnown ? "exact" : "near"];
    let isNews = false;
    for (const key of keys) {
      const count = this.#shapeCount(site, key);
      const before = count.waste;
      count.waste = Math.min(WASTE_MAX, Math.max(-CONTENT_CREDIT_MAX, before + step));
      if (before < wasteMax && count.waste >= wasteMax) isNews = true;
    }
    return isNews;
  }

  /** When to request a URL that waits; `isLast` if it has been put behind the others already. */
  whenToRequest({ siteId, path, query }: PageOfSite, isLast: boolean): When {
    const shapes = this.#sites.get(siteId)?.shapes;
    if (!this.#limits.learns || shapes === undefined) return "now";
    const { keys, isKnown } = groupsOf(path, query);
    const wasteMax = isKnown ? KNOWN_WASTE_MAX : WASTE_MAX;
    const [own, ...wider] = keys.map((key) => shapes.get(key));
    if (own !== undefined && own.waste < 0) return "now";
    const worst = [own, ...wider].find((count) => count !== undefined && count.waste >= wasteMax);
    if (worst === undefined) return "now";
    if (!isLast) return "last";
    worst.judged += 1;
    const base = isKnown ? KNOWN_SAMPLE_BASE : SAMPLE_BASE;
    return isPowerOf(base, worst.judged) ? "now" : "never";
  }

  /** Whether a page of this path and query leads on to URLs of other kinds. */
  leadsTo(
    from: Pick<PageOfSite, "path" | "query">,
    to: Pick<PageOfSite, "path" | "query">,
  ): boolean {
    if (kindBesideContent(to.path, to.query) > 0) return false;
    return shapeOf(from.path, from.query).whole !== shapeOf(to.path, to.query).whole;
  }

  /** True if most of the site's latest pages were copies. */
  isSuspect(siteId: number): boolean {
    return (this.#sites.get(siteId)?.lead ?? 0) >= this.#leadMax;
  }

  /** The counts of a site to store in its row: at most about 600 characters. */
  save(siteId: number): string {
    const site = this.#sites.get(siteId);
    if (site === undefined) return "";
    const heavy = [...(site.shapes ?? [])]
      .filter(
        ([, { urls, lead, waste }]) =>
          urls >= SAVED_URLS_MIN || lead >= this.#leadMax / 2 || waste >= KNOWN_WASTE_MAX,
      )
      .toSorted((a, b) => this.#byWeight(b[1], a[1]))
      .slice(0, SAVED_SHAPES_MAX)
      .map(([key, { urls, lead, waste }]) =>
        [key >>> 0, urls, lead, waste].map(inBase36).join("."),
      );
    return [FORMAT, inBase36(site.urls), inBase36(site.lead), ...heavy].join(" ");
  }

  /** Restores a site of an earlier run, or a forgotten one, before any of its URLs is judged. */
  restore(siteId: number, domain: string, saved: string): void {
    assert(!this.#sites.has(siteId), "a site is restored before it is used");
    const [format, urls = "0", lead = "0", ...heavy] = saved.split(" ");
    if (format !== FORMAT) return;
    const site: SiteCounts = {
      ...NOTHING_COUNTED,
      urls: from36(urls),
      lead: from36(lead),
      shapes: undefined,
      hasContent: from36(lead) < 0,
    };
    this.#sites.set(siteId, site);
    if (!this.#wasForgotten(siteId)) {
      this.#domainOf(domain).urls += site.urls;
      this.#urls += site.urls;
    }
    for (const text of heavy) {
      const [key = "0", shapeUrls = "0", shapeLead = "0", waste = "0"] = text.split(".");
      const count = this.#shapeCount(site, from36(key) | 0);
      count.urls = from36(shapeUrls);
      count.lead = from36(shapeLead);
      count.waste = Math.min(WASTE_MAX, from36(waste));
    }
  }

  /**
   * Frees the memory of a saved site. Its domain still counts its URLs; otherwise endless
   * subdomains, each forgotten in turn, would have an endless budget.
   */
  forget(siteId: number): void {
    if (!this.#sites.delete(siteId)) return;
    const byte = siteId >>> 3;
    if (byte >= this.#forgotten.length) {
      const larger = new Uint8Array(byte * 2);
      larger.set(this.#forgotten);
      this.#forgotten = larger;
    }
    this.#forgotten[byte] = (this.#forgotten[byte] as number) | (1 << (siteId & 7));
  }

  #wasForgotten(siteId: number): boolean {
    return (((this.#forgotten[siteId >>> 3] ?? 0) >>> (siteId & 7)) & 1) === 1;
  }

  #judge(url: NewUrl, shape: Shape): TrapRule | undefined {
    const limits = this.#limits;
    if (url.depth > limits.hopsMax) return "depth_limit";
    if (shape.segments > limits.segmentsMax) return "trap_depth";
    if (shape.repeats) return "trap_repeat";
    const site = this.#siteOf(url.siteId);
    const shapeRule = this.#judgeShape(site, shape, url.query !== "");
    if (shapeRule !== undefined) return shapeRule;
    if (site.urls >= limits.siteUrlsMax) return "trap_budget";
    const domain = this.#domainOf(url.domain);
    if (url.fromDomain !== undefined && url.fromDomain !== url.domain)
      domain.linkers |= 1 << (hashOf(url.fromDomain) & (LINKER_BITS - 1));
    return domain.urls >= this.#budgetOf(domain) ? "trap_domain" : undefined;
  }

  #judgeShape(site: SiteCounts, shape: Shape, hasQuery: boolean): TrapRule | undefined {
    const shapes = site.shapes;
    if (shapes === undefined) return undefined;
    const whole = shapes.get(shape.whole);
    const urlsMax = hasQuery ? this.#limits.queryShapeUrlsMax : this.#limits.shapeUrlsMax;
    if (whole !== undefined && whole.lead >= this.#leadMax) return "trap_duplicates";
    if (whole !== undefined && whole.urls >= urlsMax) return "trap_pattern";
    if (!hasQuery) return undefined;
    const queries = shapes.get(anyQuery(shape));
    if (queries !== undefined && queries.urls >= this.#limits.queriesPerPathShapeMax)
      return "trap_pattern";
    const session = shape.session === 0 ? undefined : shapes.get(anyPath(shape));
    return session !== undefined && session.lead >= this.#leadMax ? "trap_duplicates" : undefined;
  }

  #count(site: SiteCounts, shape: Shape, hasQuery: boolean): void {
    this.#shapeCount(site, shape.whole).urls += 1;
    if (hasQuery) this.#shapeCount(site, anyQuery(shape)).urls += 1;
  }

  /** Changes the lead within both bounds: originals earn credit up to `originalsCreditMax`. */
  #shift(count: Count, step: number): void {
    count.lead = Math.min(this.#leadMax, Math.max(-this.#creditMax, count.lead + step));
  }

  #budgetOf(domain: DomainCounts): number {
    const limits = this.#limits;
    const own = domain.isTrusted
      ? limits.trustedDomainUrlsMax
      : limits.domainUrlsMin + limits.domainUrlsPerLinkingDomain * distinctFromBits(domain.linkers);
    return Math.max(own, this.#urls * limits.domainShareMax);
  }

  #siteOf(siteId: number): SiteCounts {
    const known = this.#sites.get(siteId);
    if (known !== undefined) return known;
    const fresh: SiteCounts = { ...NOTHING_COUNTED, shapes: undefined, hasContent: false };
    this.#sites.set(siteId, fresh);
    return fresh;
  }

  #shapeCount(site: SiteCounts, key: number): Count {
    site.shapes ??= new Map();
    const known = site.shapes.get(key);
    if (known !== undefined) return known;
    if (site.shapes.size >= this.#limits.shapesPerSiteMax)
      keepHeavierHalf(site.shapes, (a, b) => this.#byWeight(a, b));
    const fresh: Count = { ...NOTHING_COUNTED };
    site.shapes.set(key, fresh);
    return fresh;
  }

  #isClosed({ lead, waste }: Count): boolean {
    return lead >= this.#leadMax || waste >= KNOWN_WASTE_MAX;
  }

  #domainOf(domain: string): DomainCounts {
    const known = this.#domains.get(domain);
    if (known !== undefined) return known;
    if (this.#domains.size >= this.#limits.domainsMax) keepHeavierHalf(this.#domains, byTrust);
    const fresh: DomainCounts = { urls: 0, isTrusted: false, linkers: 0 };
    this.#domains.set(domain, fresh);
    return fresh;
  }

  /** Closed shapes weigh most: dropping one would open it. */
  #byWeight(a: Count, b: Count): number {
    const closed = Number(this.#isClosed(a)) - Number(this.#isClosed(b));
    return closed === 0 ? a.urls + a.lead - b.urls - b.lead : closed;
  }
}

function byTrust(a: DomainCounts, b: DomainCounts): number {
  return a.isTrusted === b.isTrusted ? a.urls - b.urls : Number(a.isTrusted) - Number(b.isTrusted);
}

/** Drops half of the entries at once, so that the cost of sorting is spread over many insertions. */
function keepHeavierHalf<K, V>(counts: Map<K, V>, compare: (a: V, b: V) => number): void {
  const lightFirst = [...counts].toSorted((a, b) => compare(a[1], b[1]));
  for (const [key] of lightFirst.slice(0, Math.ceil(lightFirst.length / 2))) counts.delete(key);
}

/** Number of items counted, estimated from the bits they set (linear counting, Whang et al. 1990). */
function distinctFromBits(bits: number): number {
  let set = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) set += 1;
  const free = Math.max(1, LINKER_BITS - set);
  return Math.round(LINKER_BITS * Math.log(LINKER_BITS / free));
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}

function anyQuery(shape: Shape): number {
  return ~shape.path;
}

interface Groups {
  readonly keys: readonly number[];
  readonly isKnown: boolean;
}

/**
 * The groups of URLs by which one is judged: its kind if known software makes it, otherwise its shape, its
 * parameters on any path, and its path with any query.
 */
function groupsOf(path: string, query: string): Groups {
  const kind = kindBesideContent(path, query);
  if (kind > 0) return { keys: [Math.imul(kind, 0x2545f491) ^ 0x33], isKnown: true };
  const shape = shapeOf(path, query);
  if (!shape.isCommon) return { keys: [], isKnown: false };
  const names = Math.imul(shape.names, 0x165667b1) ^ 0x51;
  const keys = query === "" ? [shape.whole] : [shape.whole, names, anyQuery(shape)];
  return { keys, isKnown: false };
}

function isPowerOf(base: number, count: number): boolean {
  let power = 1;
  while (power < count) power *= base;
  return power === count;
}

function anyPath(shape: Shape): number {
  return Math.imul(shape.session, 0x297a2d39) ^ 0x2a;
}

function inBase36(count: number): string {
  return count.toString(36);
}

function from36(text: string): number {
  const count = Number.parseInt(text, 36);
  return Number.isSafeInteger(count) ? count : 0;
}
