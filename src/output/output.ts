/**
 * Where pages leave the crawler, as a sink.
 *
 * An output is told of a page before the store commits it, and answers where it put it. Whatever it
 * wrote beyond the last committed marks is cut off when it is opened again, so that a page repeated
 * after a crash is there once.
 */

import type { ArchivePlace, Likeness } from "../page/page.ts";

/** One exchange with a server, as it goes into an archive. */
export interface Capture {
  readonly url: string;
  /** When the request was sent, wall clock. */
  readonly atMs: number;
  readonly address: string;
  readonly requestHead: string;
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: "1.0" | "1.1" | "2";
  /** Names in lower case; `written` is the name as it came, where that is another. */
  readonly headers: readonly (readonly [name: string, value: string, written?: string])[];
  /** Free of transfer coding, in its content coding. */
  readonly body: Uint8Array;
  /** SHA-256 of `body`, where somebody has it already. */
  readonly bodyDigest?: Uint8Array;
  readonly truncated: "length" | "time" | "disconnect" | undefined;
  /** Set when the content repeats an earlier page: then only a revisit record is written. */
  readonly repeats:
    | { readonly likeness: Likeness; readonly url: string; readonly atMs: number }
    | undefined;
}

export interface Output {
  /** Takes a page; resolves once it is written (not yet synced) with its place. */
  write(capture: Capture): Promise<ArchivePlace>;
  /** The end of every file written so far, to be stored with the commit. */
  marks(): Readonly<Record<string, number>>;
  sync(): Promise<void>;
  close(): Promise<void>;
}
