/** One row of the catalogue of hostile behaviour: what a server does, and how a fetch must end. */

import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import type { Reason } from "../../src/page/outcome.ts";
import type { Remark } from "../../src/page/page.ts";
import { every } from "../../src/base/patient-clock.suite.ts";

export type Ending =
  | {
      readonly kind: "page";
      readonly remark?: Remark;
      /** Length of the decoded body, where it matters. */
      readonly bodyBytes?: number;
    }
  | { readonly kind: "redirect"; readonly to: string }
  | { readonly kind: "busy"; readonly retryAfterMs: number | undefined }
  | { readonly kind: "failed"; readonly reason: Reason };

/** A request that a row's server is asked. */
export interface Asked {
  readonly socket: Socket;
  /** The connection below TLS, or the same. */
  readonly tcp: Socket;
  /** How many requests came before it on its connection. */
  readonly earlier: number;
  readonly path: string;
  readonly head: string;
}

export interface Row {
  /** As in the catalogue, with a letter where one row has several cases. */
  readonly id: string;
  readonly does: string;
  readonly ends: Ending;
  /** Over TLS with these settings. */
  readonly tls?: TlsOptions;
  /** Called for each connection, before TLS and before any request. */
  readonly onConnection?: (socket: Socket) => void;
  readonly onRequest?: (asked: Asked) => void;
  /** No server listens: `closed` refuses connections, `full` leaves them unanswered. */
  readonly port?: "closed" | "full";
  /** How often it is asked in a row; each time it must end so. */
  readonly times?: number;
  /** Bytes that the crawler may receive at most. */
  readonly receivedBytesMax?: number;
}

/** The part that most rows share: the server says this and waits. */
export function says(text: string | Buffer): Pick<Row, "onRequest"> {
  return { onRequest: ({ socket }) => void socket.write(bytesOf(text)) };
}

/** Says this and ends the connection. */
export function saysAndEnds(text: string | Buffer): Pick<Row, "onRequest"> {
  return { onRequest: ({ socket }) => void socket.end(bytesOf(text)) };
}

/** Says the first part, then the second again and again as fast as it is read. */
export function floods(first: string, again: string | Buffer): Pick<Row, "onRequest"> {
  const piece = bytesOf(again);
  const block = Buffer.concat(
    Array.from({ length: Math.max(1, Math.floor(65_536 / piece.length)) }, () => piece),
  );
  return {
    onRequest({ socket }) {
      const pour = (): void => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on("drain", pour);
      socket.write(bytesOf(first));
      pour();
    },
  };
}

/** Says the first part, then the second piece by piece, one every `everyMs`. */
export function drips(first: string, again: string, everyMs: number): Pick<Row, "onRequest"> {
  return {
    onRequest({ socket }) {
      socket.write(bytesOf(first));
      const stop = every(everyMs, () => socket.write(bytesOf(again)));
      socket.once("close", stop);
    },
  };
}

/** A whole, honest answer. */
export function answer(status: string, fields: string, body: string | Buffer = ""): Buffer {
  const bytes = bytesOf(body);
  const head = `HTTP/1.1 ${status}\r\n${fields}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([bytesOf(head), bytes]);
}

export function failed(reason: Reason): Ending {
  return { kind: "failed", reason };
}

export function bytesOf(text: string | Buffer): Buffer {
  return typeof text === "string" ? Buffer.from(text, "latin1") : text;
}
