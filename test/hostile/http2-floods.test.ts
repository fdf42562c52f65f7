/**
 * HTTP/2 servers that send what belongs to no response: each is cut off after 1 MiB and what one tick adds.
 *
 * `node:http2` serves no hostile frame, so these servers write frames themselves, on TLS.
 */

import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { createServer, type TLSSocket } from "node:tls";
import { patientClock, until } from "../../src/base/patient-clock.suite.ts";
import type { TransportAnswer, TransportFailed } from "../../src/fetch/transport.ts";
import { SUITE_LIMITS } from "../../src/fetch/transport.suite.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import { GOOD, KEY } from "./certificates.ts";

const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const ALTSVC = 10;
const ORIGIN = 12;
const UNKNOWN = 0x55;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const PREFACE_BYTES = 24;
/** `:status: 200` in HPACK's static table. */
const STATUS_200 = Buffer.of(0x88);
const FRAME_BYTES = 16_384;
const MIB = 2 ** 20;
/** Far more than comes in one tick of the transport's watch, so that a busy machine fails no test. */
const RECEIVED_BYTES_MAX = 64 * MIB;

const altSvc = frame(ALTSVC, 0, 0, altSvcPayload());
const origin = frame(ORIGIN, 0, 0, originPayload());
const data = frame(DATA, 0, 1, Buffer.alloc(FRAME_BYTES, "x"));
const good = Buffer.concat([
  frame(HEADERS, END_HEADERS, 1, STATUS_200),
  frame(DATA, END_STREAM, 1, Buffer.from("fine")),
]);

describe("frames that belong to no response", () => {
  for (const [name, first, again] of [
    ["ALTSVC frames without end", Buffer.alloc(0), altSvc],
    ["ORIGIN frames without end", Buffer.alloc(0), origin],
    [
      "WINDOW_UPDATE frames without end",
      Buffer.alloc(0),
      frame(WINDOW_UPDATE, 0, 0, Buffer.of(0, 0, 0, 1)),
    ],
    [
      "frames of an unknown type without end",
      Buffer.alloc(0),
      frame(UNKNOWN, 0, 0, Buffer.alloc(FRAME_BYTES)),
    ],
    ["ALTSVC frames in the middle of a body", frame(HEADERS, END_HEADERS, 1, STATUS_200), altSvc],
  ] as const)
    test(`${name} end the request and the connection, and are counted`, async () => {
      await using site = await rawSite((socket) => {
        socket.write(first);
        pour(socket, again);
      });
      let toldBytes = 0;
      const result = await site.ask({ onBytes: (bytes) => ((toldBytes += bytes), true) });
      assert.equal(endOf(result), "frame_flood");
      assert.equal(result.traffic.receivedBytes, toldBytes);
      assert.ok(toldBytes > MIB && toldBytes < RECEIVED_BYTES_MAX, `${toldBytes} bytes`);
      await until(() => site.open() === 0, "the connection is closed");
    });

  test("a body that ignores the flow-control window ends, and is counted", async () => {
    await using site = await rawSite((socket) => {
      socket.write(frame(HEADERS, END_HEADERS, 1, STATUS_200));
      pour(socket, data);
    });
    let toldBytes = 0;
    const limits = { ...SUITE_LIMITS, bodyBytesMax: 8 * MIB, totalMs: 600_000, idleMs: 600_000 };
    const result = await site.ask({
      limits,
      // As a crawl at its limit does: the response is not read, so its window stays shut.
      onBytes: (bytes) => ((toldBytes += bytes), false),
    });
    assert.match(endOf(result), /^(frame_flood|bad_framing)$/);
    assert.equal(result.traffic.receivedBytes, toldBytes);
    assert.ok(toldBytes < RECEIVED_BYTES_MAX, `${toldBytes} bytes`);
    await until(() => site.open() === 0, "the connection is closed");
  });

  test("1.5 MiB before a good response are too much, and 0.75 MiB are not", async () => {
    for (const [bytes, end] of [
      [1.5 * MIB, "frame_flood"],
      [0.75 * MIB, "200"],
    ] as const) {
      await using site = await rawSite((socket) => {
        for (let sent = 0; sent < bytes; sent += altSvc.length) socket.write(altSvc);
        socket.write(good);
      });
      assert.equal(endOf(await site.ask()), end);
    }
  });

  test("a byte of body now and then does not pay for frames beside it", async () => {
    await using site = await rawSite((socket) => {
      socket.write(frame(HEADERS, END_HEADERS, 1, STATUS_200));
      const piece = Array.from({ length: 40 }, () => altSvc);
      pour(socket, Buffer.concat([...piece, frame(DATA, 0, 1, Buffer.from("x"))]));
    });
    const result = await site.ask();
    assert.equal(endOf(result), "frame_flood");
    assert.ok(result.traffic.receivedBytes < RECEIVED_BYTES_MAX);
  });

  test("a flood on a connection that waits for its next request closes it", async () => {
    await using site = await rawSite((socket) => {
      socket.write(good);
      pour(socket, altSvc);
    });
    assert.equal(endOf(await site.ask()), "200");
    await until(() => site.open() === 0, "the connection is closed");
  });

  test("all requests on a flooded connection end for that reason, and the next one has a new connection", async () => {
    await using site = await rawSite((socket, earlier) => {
      if (earlier === 0) socket.write(good);
      else if (earlier === 3) pour(socket, altSvc);
    });
    assert.equal(endOf(await site.ask()), "200");
    const results = await Promise.all([site.ask(), site.ask(), site.ask()]);
    assert.deepEqual(results.map(endOf), ["frame_flood", "frame_flood", "frame_flood"]);
    assert.equal(endOf(await site.ask()), "200");
  });

  test("a GOAWAY that covers no stream is a reset that is retried", async () => {
    for (const code of [0, 2]) {
      const payload = Buffer.alloc(8);
      payload.writeUInt32BE(code, 4);
      await using site = await rawSite((socket) => {
        socket.write(frame(GOAWAY, 0, 0, Buffer.concat([payload, Buffer.from("debug")])));
      });
      const result = await site.ask();
      assert.equal(endOf(result), "conn_reset", JSON.stringify(result));
    }
  });
});

interface Site extends AsyncDisposable {
  ask(more?: Partial<Parameters<UndiciTransport["exchange"]>[0]>): Promise<Result>;
  /** Connections that are open. */
  open(): number;
}

type Result = TransportAnswer | TransportFailed;

/**
 * Serves HTTP/2 by hand: sends the settings, and answers each request with `serve`, which receives
 * the number of earlier requests.
 */
async function rawSite(serve: (socket: TLSSocket, earlier: number) => void): Promise<Site> {
  const sockets = new Set<TLSSocket>();
  const server = createServer({ key: KEY, cert: GOOD, ALPNProtocols: ["h2"] }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.write(Buffer.concat([frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0)]));
    let came = Buffer.alloc(0);
    let served = 0;
    socket.on("data", (chunk: Buffer) => {
      came = Buffer.concat([came, chunk]);
      for (const requests = requestsIn(came); served < requests;) serve(socket, served++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const transport = new UndiciTransport({
    clock: patientClock,
    lanesMax: 16,
    http2: true,
    insecureTls: true,
    proxy: undefined,
  });
  const where = {
    scheme: "https",
    host: "localhost",
    port,
    path: "/",
    address: "127.0.0.1",
  } as const;
  return {
    ask: (more = {}) =>
      transport.exchange({ ...where, headers: [["accept", "*/*"]], limits: SUITE_LIMITS, ...more }),
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      await transport.close();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function requestsIn(came: Buffer): number {
  let requests = 0;
  for (let at = PREFACE_BYTES; at + 9 <= came.length; at += 9 + came.readUIntBE(at, 3))
    if (came[at + 3] === HEADERS) requests += 1;
  return requests;
}

/** Writes the frame again and again, as fast as it is read. */
function pour(socket: TLSSocket, piece: Buffer): void {
  const block = Buffer.concat(
    Array.from({ length: Math.max(1, Math.floor((4 * FRAME_BYTES) / piece.length)) }, () => piece),
  );
  const go = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on("drain", go);
  go();
}

function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** RFC 7838: the origin's length, the origin, and the field's value. */
function altSvcPayload(): Buffer {
  const name = "https://localhost";
  const field = `h2=":443"; ma=1; x="${"y".repeat(FRAME_BYTES - name.length - 64)}"`;
  return entry(name, field);
}

/** RFC 8336: one origin. */
function originPayload(): Buffer {
  return entry(`https://${"o".repeat(FRAME_BYTES - 64)}.example`);
}

function entry(name: string, rest = ""): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(name.length);
  return Buffer.concat([length, Buffer.from(name + rest)]);
}

function endOf(result: Result): string {
  return result.kind === "failed" ? result.reason : `${result.status}`;
}
