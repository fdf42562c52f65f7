/**
 * The interface of outputs, which store the fetched pages.
 *
 * An output writes a page before the store commits it, and returns its place. When it is reopened, it
 * removes everything beyond the last committed marks, so that a page repeated after a crash is stored
 * once.
 */

import type { ArchivePlace, Likeness } from "../page/page.ts";

/** One request with its response, as written to an archive. */
export interface Capture {
  readonly url: string;
  /** Wall-clock time of the request. */
  readonly atMs: number;
  readonly address: string;
  readonly requestHead: string;
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: "1.0" | "1.1" | "2";
  /** Names in lower case; `written` is the name as received, where it differs. */
  readonly headers: readonly (readonly [name: string, value: string, written?: string])[];
  /** The body without transfer coding, but with its content coding. */
  readonly body: Uint8Array;
  /** SHA-256 of `body`, when already computed. */
  readonly bodyDigest?: Uint8Array;
  readonly truncated: "length" | "time" | "disconnect" | undefined;
  /** Set when the content duplicates an earlier page; then only a revisit record is written. */
  readonly repeats:
    | { readonly likeness: Likeness; readonly url: string; readonly atMs: number }
    | undefined;
}

export interface Output {
  /** Writes a page; resolves with its place when it is written, but not yet synced. */
  write(capture: Capture): Promise<ArchivePlace>;
  /** The end of every file, to be stored with the commit. */
  marks(): Readonly<Record<string, number>>;
  sync(): Promise<void>;
  close(): Promise<void>;
}
