/**
 * Reads what a body contains: digest, kind, encoding, links, text. Everything that takes time in proportion to its
 * length is here, so that another thread can do it for large ones (`page-thread.ts`).
 */

import { detectCharset, toUtf8 } from "./charset.ts";
import { digestOf } from "./digest.ts";
import { type ListedLink, listLinks } from "./link-list.ts";
import { type Harvest, LinkHarvester, type HarvestOptions } from "./links.ts";
import { NearHasher } from "./near-duplicate.ts";
import { type BodyKind, judgeBody } from "./sniff.ts";
import { type ResolvedUrl, writtenOf } from "../url/url.ts";

export interface ScanOptions extends HarvestOptions {
  readonly nearDuplicates: boolean;
  /** Most links listed with their words; 0 for none. */
  readonly anchorsMax: number;
}

/** A body as the server sent it, free of codings. */
export interface ScannedBody {
  readonly url: ResolvedUrl;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export type Scan =
  | { readonly kind: Exclude<BodyKind, "html">; readonly digest: Uint8Array }
  | ({ readonly kind: "html"; readonly digest: Uint8Array } & ScannedPage);

export interface ScannedPage {
  readonly charset: string;
  /** In UTF-8; the body itself if it is. */
  readonly html: Uint8Array;
  readonly harvest: Harvest;
  /** Fingerprint of its words; both 0 when it has few or none was wanted. */
  readonly nearHigh: number;
  readonly nearLow: number;
  readonly anchors: readonly ListedLink[];
}

export class PageScanner {
  readonly #options: ScanOptions;
  readonly #harvester: LinkHarvester;
  readonly #near = new NearHasher();

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#harvester = new LinkHarvester(options);
  }

  /** The runs of text are valid until the next body. */
  scan(
    { url, contentType, body }: ScannedBody,
    isKnown: (high: number, low: number) => boolean,
  ): Scan {
    const digest = digestOf(body);
    const kind = judgeBody(contentType, body);
    if (kind !== "html") return { kind, digest };
    const { nearDuplicates, anchorsMax } = this.#options;
    const charset = detectCharset(body, contentType).name;
    const html = toUtf8(body, charset);
    const harvest = this.#harvester.harvest(html, url, isKnown);
    if (nearDuplicates) this.#near.hash(html, harvest.runs);
    return {
      kind,
      digest,
      charset,
      html,
      harvest,
      nearHigh: this.#near.high,
      nearLow: this.#near.low,
      anchors: anchorsMax > 0 ? listLinks(html, writtenOf(url), anchorsMax) : [],
    };
  }
}
