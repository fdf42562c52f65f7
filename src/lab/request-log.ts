/**
 * The servers' log: every request with its start and its end.
 *
 * Checks of politeness and of repeated requests use only this log, so they do not rely on the
 * crawler's own records.
 */

/** A request, as its server sees it. */
export interface RequestEntry {
  /** scheme://host[:port] */
  readonly site: string;
  readonly address: string;
  /** Path and query, as requested. */
  readonly path: string;
  readonly startMs: number;
  /** Name of the crawling process that sent the request, where known. */
  readonly by?: string;
  /** Infinity while the request is open. */
  readonly endMs: number;
  /** 0 when no answer was started. */
  readonly status: number;
  /** Whether the whole answer was delivered. */
  readonly whole: boolean;
}

/**
 * The log of the servers: every request with its start and end.
 *
 * @example
 * import { RequestLog } from "weir/lab";
 *
 * const log = new RequestLog();
 * const end = log.begin({ site: "http://site0.test", address: "198.18.0.1", path: "/", startMs: 0 });
 * end({ endMs: 120, status: 200, whole: true });
 * console.log(log.entries);
 */
export class RequestLog {
  readonly #entries: RequestEntry[] = [];

  get entries(): readonly RequestEntry[] {
    return this.#entries;
  }

  /** Records a request. Call the returned function once, when the request ends. */
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
