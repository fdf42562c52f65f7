/** A fetched document, in the form that all parts of the program exchange. */

/** Findings about a page that do not prevent storing it. */
export type Remark =
  | "not_html"
  | "type_mismatch"
  | "outlinks_capped"
  | "text_capped"
  | "nofollow"
  | "noindex"
  | "eof_delimited"
  | "encoding_fallback"
  | "bare_line_ends"
  | "truncated"
  | "soft_404"
  | "tls_unverified"
  | "needs_scripts"
  | "login_wall"
  | "consent_wall"
  | "challenge_wall";

/** How a page repeats another: byte for byte, nearly, or as reported by the server (304). */
export interface Likeness {
  readonly kind: "exact" | "near" | "not_modified";
  /** The store's id of the URL whose content it repeats. */
  readonly ofId: number;
}

/** The stored record of a page; the body itself goes to the outputs. */
export interface PageRecord {
  /** The id of its URL. */
  readonly id: number;
  readonly status: number;
  readonly fetchedAtMs: number;
  readonly durationMs: number;
  /** Bytes received for it, including headers and overhead. */
  readonly wireBytes: number;
  /** Length of the decoded body. */
  readonly bodyBytes: number;
  readonly contentType: string;
  readonly charset: string;
  readonly title: string;
  readonly language: string;
  /** SHA-256 of the decoded body. */
  readonly digest: Uint8Array;
  /** 64-bit fingerprint of its words, as two unsigned halves; [0, 0] without enough text. */
  readonly nearHigh: number;
  readonly nearLow: number;
  readonly etag: string;
  readonly lastModified: string;
  readonly likeness: Likeness | undefined;
  readonly remarks: readonly Remark[];
  /** Fingerprints of the distinct pages it links to, 8 bytes each, big-endian, in page order. */
  readonly links: Uint8Array;
  /** Its place in the archive; undefined without an archive. */
  readonly archived: ArchivePlace | undefined;
}

export interface ArchivePlace {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}
