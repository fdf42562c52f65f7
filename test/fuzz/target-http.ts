/**
 * HTTP responses as bytes from a server on loopback, through the real transport and decoder. Promises: every exchange
 * ends with a value within its time; what is reported as received is bounded; and the next request on the same transport
 * gets its own response, whatever came before it.
 */

import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { patientClock } from "../../src/base/patient-clock.suite.ts";
import { below, type Random } from "../../src/base/random.ts";
import { decodeBody } from "../../src/fetch/decode.ts";
import { SUITE_LIMITS } from "../../src/fetch/transport.suite.ts";
import { headerOf, type TransportAnswer, type TransportFailed } from "../../src/fetch/transport.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import type { Target } from "./target.ts";

const LIMITS = {
  ...SUITE_LIMITS,
  firstByteMs: 200,
  idleMs: 200,
  totalMs: 1_000,
  bodyBytesMax: 64 * 1024,
};
const DECODED_BYTES_MAX = 1 << 20;
/** Headers, body and what one read brings beyond them, for the first try and its repetition. */
const RECEIVED_BYTES_MAX = 2 * (256 + 64 + 64 + 64) * 1024;
const CANARY = "the canary's own body";
const CANARY_ANSWER = `HTTP/1.1 200 OK\r\nContent-Length: ${CANARY.length}\r\n\r\n${CANARY}`;

interface Script {
  readonly pieces: readonly Uint8Array[];
  readonly ends: boolean;
}

class Bench {
  readonly transport = new UndiciTransport({
    clock: patientClock,
    lanesMax: 4,
    http2: false,
    insecureTls: false,
    proxy: undefined,
  });
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket);
    socket
      .setNoDelay(true)
      .on("error", () => {})
      .on("close", () => this.#sockets.delete(socket));
    socket.on("data", (chunk) => {
      if (chunk.includes("GET /canary")) socket.write(CANARY_ANSWER);
      else void this.#answer(socket);
    });
  });
  script: Script = { pieces: [], ends: true };

  async port(): Promise<number> {
    if (!this.#server.listening)
      await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve).unref());
    return (this.#server.address() as AddressInfo).port;
  }

  async #answer(socket: Socket): Promise<void> {
    const { pieces, ends } = this.script;
    for (const piece of pieces) {
      if (!socket.writable) return;
      await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    }
    if (ends) socket.end();
  }

  async exchange(path: string): Promise<TransportAnswer | TransportFailed> {
    const [host, scheme] = ["127.0.0.1", "http"] as const;
    const port = await this.port();
    return this.transport.exchange({
      scheme,
      host,
      port,
      path,
      address: host,
      headers: [],
      limits: LIMITS,
    });
  }

  async close(): Promise<void> {
    await this.transport.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

let bench: Bench | undefined;

async function check(input: Uint8Array, random: Random): Promise<string> {
  bench ??= new Bench();
  bench.script = scriptFor(input, random);
  const result = await bench.exchange("/fuzz");
  const { receivedBytes, totalMs } = result.traffic;
  assert.ok(receivedBytes <= RECEIVED_BYTES_MAX, `${receivedBytes} bytes received`);
  assert.ok(totalMs <= LIMITS.totalMs + 1_000, `it took ${totalMs} ms`);
  const kind = result.kind === "failed" ? result.reason : await checkAnswer(result);
  bench.script = { pieces: [Buffer.from(CANARY_ANSWER)], ends: false };
  const canary = await bench.exchange("/canary");
  assert.equal(canary.kind, "answer", `the next request: ${JSON.stringify(canary)}`);
  assert.equal(Buffer.from(canary.body).toString(), CANARY, "another response's bytes");
  return kind;
}

function scriptFor(input: Uint8Array, random: Random): Script {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < input.length;) {
    const bytes =
      pieces.length > 3 ? input.length : 1 + below(random, 1 << (3 + below(random, 14)));
    pieces.push(input.subarray(at, at + bytes));
    at += bytes;
  }
  return { pieces, ends: below(random, 40) !== 0 };
}

async function checkAnswer(answer: TransportAnswer): Promise<string> {
  const { status, headers, body, truncated, eofDelimited } = answer;
  assert.ok(status >= 200 && status <= 999);
  assert.ok(body.length <= LIMITS.bodyBytesMax);
  assert.ok(headers.length <= LIMITS.headerFieldsMax);
  for (const [name, value] of headers) {
    assert.match(name, /^[!-9;-~]+$/);
    assert.ok(!/[\r\n\0]/.test(value), "a header has one line");
  }
  const decoded = await decodeBody(body, headerOf(answer, "content-encoding"), DECODED_BYTES_MAX);
  if (decoded.kind === "decoded") assert.ok(decoded.body.length <= DECODED_BYTES_MAX);
  const fields = Math.min(4, headers.length);
  const end = `${truncated} ${eofDelimited}`;
  return `${Math.floor(status / 100)} ${fields} ${Math.min(1, body.length)} ${end} ${decoded.kind}`;
}

const GZIPPED = gzipSync("<p>hello");

export const HTTP: Target = {
  name: "http",
  samples: [
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
    "HTTP/1.0 404 Not Found\nServer: x\n\nnot here",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
    `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${GZIPPED.length}\r\n\r\n${GZIPPED.toString("latin1")}`,
    "HTTP/1.1 204 None\r\nConnection: close\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
  ].map((text) => Buffer.from(text, "latin1")),
  words: [
    "HTTP/1.1 ",
    "HTTP/1.0 ",
    "HTTP/2 ",
    "HTTP/",
    "ICY 200 OK\r\n",
    "200 OK",
    "101 ",
    "1xx",
    "999 ",
    "304 ",
    "\r\n",
    "\n",
    "\r",
    "Content-Length: ",
    "Transfer-Encoding: ",
    "chunked",
    "identity",
    "gzip, chunked",
    "Content-Encoding: ",
    "gzip",
    "br",
    "zstd",
    "deflate",
    "Connection: ",
    "close",
    "keep-alive",
    "upgrade",
    "Upgrade: h2c",
    "Location: ",
    "Set-Cookie: ",
    " ",
    "\t",
    ":",
    ",",
    "0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "5\r\n",
    "-1",
    "+5",
    "0x5",
    "5 5",
    ";",
    "\0",
    "x: y\r\n",
    " folded\r\n",
    "Trailer: x\r\n",
    "x".repeat(10_000),
    Buffer.from([0xff, 0xfe]),
    GZIPPED,
  ],
  inputBytesMax: 256 * 1024,
  inputsPerTest: 1_500,
  check,
  async close() {
    await bench?.close();
    bench = undefined;
  },
};
