/**
 * What servers saw: every request with its beginning and its end, kept on the servers' side.
 *
 * Whether a crawl was polite and asked for nothing twice is judged from this log alone, so that a
 * crawler cannot be its own witness.
 */

export interface RequestEntry {
  /** scheme://host[:port] */
  readonly site: string;
  readonly address: string;
  /** Path and query, as asked for. */
  readonly path: string;
  readonly startMs: number;
  /** Which of several crawling processes asked, where that is known. */
  readonly by?: string;
  /** Infinity while it is under way. */
  readonly endMs: number;
  /** 0 when no answer was begun. */
  readonly status: number;
  /** Whether all of the answer was delivered. */
  readonly whole: boolean;
}

export class RequestLog {
  readonly #entries: RequestEntry[] = [];

  get entries(): readonly RequestEntry[] {
    return this.#entries;
  }

  /** Notes a request; the answer is called once, when it is over. */
  begin(
    request: Pick<RequestEntry, "site" | "address" | "path" | "startMs" | "by">,
  ): (end: Pick<RequestEntry, "endMs" | "status" | "whole">) => void {
    const place = this.#entries.length;
    this.#entries.push({ ...request, endMs: Number.POSITIVE_INFINITY, status: 0, whole: false });
    return (end) => {
      this.#entries[place] = { ...request, ...end };
    };
  }
}
