/**
 * The network, as a socket: one request to one checked address, one answer or one reason.
 *
 * A transport never resolves names, follows redirects or decodes content; it never throws for what
 * a server does. It keeps to every limit it is given and reports every byte that came, so that the caller can charge them, and pause reading until they are earned.
 */

import type { TransportFailure } from "../page/outcome.ts";

export interface TransportLimits {
  readonly connectMs: number;
  readonly tlsMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  /** A body slower than this, on average, after `slowAfterMs`, is given up. */
  readonly speedFloorBps: number;
  readonly slowAfterMs: number;
  readonly headerBytesMax: number;
  readonly headerFieldsMax: number;
  /** Bytes of body on the wire; what is beyond is not read, and the answer is marked. */
  readonly bodyBytesMax: number;
}

/** What is known of the connection that bytes came on. */
export interface Arrival {
  /** They belong to what two machines tell each other before the answer begins (TLS). */
  readonly isGreeting: boolean;
  /** Received bytes that were not read yet; undefined where the system does not report them. */
  unreadBytes(): number | undefined;
}

export type OnBytes = (bytes: number, readOn: () => void, arrival?: Arrival) => boolean;

export interface TransportRequest {
  readonly scheme: "http" | "https";
  /** As in the URL: a name, an IPv4 address or a bracketed IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Path and query, as it goes on the request line. */
  readonly path: string;
  /** The address to connect to; already allowed by the address guard. */
  readonly address: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly limits: TransportLimits;
  /**
   * Called for every received piece. `true`: continue reading. `false`: stop reading until `readOn`
   * is called. Pieces already on the way may still be reported meanwhile; one call ends all
   * refusals, and after the end it does nothing.
   */
  readonly onBytes?: OnBytes | undefined;
  /** Called when the request is sent, after a connection was found or made. */
  readonly onSent?: (() => void) | undefined;
  /** Asked once the headers are in; when it answers false the body is not read. */
  readonly wantsBody?: ((head: Pick<TransportAnswer, "status" | "headers">) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `written` is the name as it came, where that is not in lower case. */
export type HeaderField = readonly [name: string, value: string, written?: string];

export interface TransportAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: "1.0" | "1.1" | "2";
  /** In the order they came, names in lower case; repeated names stay repeated. */
  readonly headers: readonly HeaderField[];
  /** Free of transfer coding, still in its content coding. */
  readonly body: Uint8Array;
  /** Why the body is not whole, when it is not. */
  readonly truncated: "length" | "time" | "disconnect" | undefined;
  /** True when only the end of the connection ended the body, so that it may be incomplete. */
  readonly eofDelimited: boolean;
  /** False when the certificate was not good but accepted; plain http has nothing to verify. */
  readonly verified: boolean;
  /** Lines of its head ended with LF instead of CRLF. */
  readonly bareLineEnds?: true;
  readonly traffic: Traffic;
}

export interface TransportFailed {
  readonly kind: "failed";
  readonly reason: TransportFailure;
  /** For people; foreign text, so it is shown only through `visible`. */
  readonly detail: string;
  readonly traffic: Traffic;
}

/** What went over the wire for one request, TLS included, and how long its phases took. */
export interface Traffic {
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly connectMs: number;
  readonly firstByteMs: number;
  /** From the end of the header to the first byte of the body, pauses not counted. */
  readonly bodyMs: number;
  readonly totalMs: number;
  /** The part of the total in which the caller refused to read; no limit counts it. */
  readonly pausedMs: number;
  /** A round trip to the server and back, when this request gave the chance to measure it. */
  readonly rttMs: number | undefined;
}

export const NO_TRAFFIC: Traffic = {
  receivedBytes: 0,
  sentBytes: 0,
  connectMs: 0,
  firstByteMs: 0,
  bodyMs: 0,
  totalMs: 0,
  pausedMs: 0,
  rttMs: undefined,
};

export interface Transport {
  exchange(request: TransportRequest): Promise<TransportAnswer | TransportFailed>;
  /** How much a connection may hold unread, from now on; undefined: as the system likes. */
  setWindow(bytes: number | undefined): void;
  /** Closes every connection; requests under way end as failed. */
  close(): Promise<void>;
}

export function headerOf(
  answer: Pick<TransportAnswer, "headers">,
  name: string,
): string | undefined {
  for (const [candidate, value] of answer.headers) if (candidate === name) return value;
  return undefined;
}
