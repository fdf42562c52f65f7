/**
 * The promises of every Transport, the real and the simulated one.
 *
 * An adapter's test provides a bench: its transport, and a server of its own world with
 * configurable behaviour. The tests hold in real and in virtual time: none measures how long it
 * took.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../base/clock.ts";
import {
  headerOf,
  type Transport,
  type TransportAnswer,
  type TransportLimits,
  type TransportRequest,
} from "./transport.ts";

export type Behaviour =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: Uint8Array;
    }
  /** Sends the headers and this much of a longer body, then nothing more. */
  | { readonly kind: "stall"; readonly body: Uint8Array }
  /** Sends the headers and this much of a longer body, then cuts the connection. */
  | { readonly kind: "cut"; readonly body: Uint8Array }
  /** Accepts the connection and never answers. */
  | { readonly kind: "silence" }
  | { readonly kind: "refuse" };

export interface TransportBench {
  readonly transport: Transport;
  /** The time that its world goes by. */
  readonly clock: Clock;
  /** Sets up a server that behaves so; the answer is where a request must go to reach it. */
  serve(
    behaviour: Behaviour,
  ): Promise<Pick<TransportRequest, "scheme" | "host" | "port" | "path" | "address">>;
  close(): Promise<void>;
}

export const SUITE_LIMITS: TransportLimits = {
  connectMs: 1_000,
  tlsMs: 1_000,
  firstByteMs: 300,
  idleMs: 300,
  totalMs: 5_000,
  speedFloorBps: 100,
  slowAfterMs: 4_000,
  headerBytesMax: 64 * 1024,
  headerFieldsMax: 256,
  bodyBytesMax: 1024 * 1024,
};

export function testTransport(name: string, open: () => Promise<TransportBench>): void {
  const on = (promise: string, prove: (bench: TransportBench) => Promise<void>): void => {
    test(`${name}: ${promise}`, async () => {
      const bench = await open();
      try {
        await prove(bench);
      } finally {
        await bench.close();
      }
    });
  };

  on("an answer comes with its status, headers and body", async (bench) => {
    const body = Buffer.from("<p>hello</p>");
    const answer = await answerOf(bench, answering(body, 404));
    assert.equal(answer.status, 404);
    assert.equal(headerOf(answer, "content-type"), "text/html");
    assert.equal(Buffer.from(answer.body).toString(), body.toString());
    assert.equal(answer.truncated, undefined);
    assert.equal(answer.verified, true);
  });

  on("repeated headers stay repeated, in their order", async (bench) => {
    const cookies = ["a=1", "b=2"];
    const behaviour = answering(Buffer.from("x"));
    const headers = cookies.map((cookie) => ["Set-Cookie", cookie] as const);
    const answer = await answerOf(bench, { ...behaviour, headers });
    const came = answer.headers.filter(([header]) => header === "set-cookie");
    assert.deepEqual(
      came.map(([, value]) => value),
      cookies,
    );
  });

  on("a body of exactly the cap is whole, and one byte more is cut", async (bench) => {
    const limits = { ...SUITE_LIMITS, bodyBytesMax: 10_000 };
    const whole = await answerOf(bench, answering(Buffer.alloc(10_000, "x")), { limits });
    assert.equal(whole.truncated, undefined);
    assert.equal(whole.body.length, 10_000);
    const cut = await answerOf(bench, answering(Buffer.alloc(10_001, "x")), { limits });
    assert.equal(cut.truncated, "length");
    assert.ok(cut.body.length <= 10_000);
  });

  on("a body that is not wanted is not read", async (bench) => {
    const asked: number[] = [];
    const answer = await answerOf(bench, answering(Buffer.alloc(50_000, "x")), {
      wantsBody: ({ status }) => {
        asked.push(status);
        return false;
      },
    });
    assert.deepEqual(asked, [200]);
    assert.equal(answer.body.length, 0);
    assert.equal(answer.truncated, "length");
  });

  on("a refused connection is connect_refused", async (bench) => {
    assert.equal(await reasonOf(bench, { kind: "refuse" }), "connect_refused");
  });

  on("a server that never answers is first_byte_timeout", async (bench) => {
    assert.equal(await reasonOf(bench, { kind: "silence" }), "first_byte_timeout");
  });

  on("a body that stops coming is idle_timeout", async (bench) => {
    const stall: Behaviour = { kind: "stall", body: Buffer.alloc(5_000, "x") };
    assert.equal(await reasonOf(bench, stall), "idle_timeout");
  });

  on("a connection cut in the body is never a whole answer", async (bench) => {
    const cut: Behaviour = { kind: "cut", body: Buffer.alloc(5_000, "x") };
    const reason = await reasonOf(bench, cut);
    assert.ok(reason === "body_short" || reason === "conn_reset", reason);
  });

  on("every byte is told once, and the sum is the traffic", async (bench) => {
    for (const behaviour of [
      answering(Buffer.alloc(300_000, "x")),
      { kind: "stall", body: Buffer.alloc(5_000, "x") } as const,
    ]) {
      let toldBytes = 0;
      const result = await exchange(bench, behaviour, {
        onBytes: (bytes) => {
          toldBytes += bytes;
          return true;
        },
      });
      assert.ok(toldBytes >= behaviour.body.length, `${behaviour.kind}: only ${toldBytes}`);
      assert.equal(result.traffic.receivedBytes, toldBytes, behaviour.kind);
    }
  });

  on("a pause of the reader is not the server's idleness", async (bench) => {
    let refusals = 0;
    const answer = await answerOf(bench, answering(Buffer.alloc(200_000, "x")), {
      onBytes: (_, readOn) => {
        if (refusals++ >= 2) return true;
        bench.clock.after(2 * SUITE_LIMITS.idleMs, readOn);
        return false;
      },
    });
    assert.equal(answer.body.length, 200_000);
    const { pausedMs, totalMs } = answer.traffic;
    assert.ok(pausedMs > SUITE_LIMITS.idleMs, `${pausedMs} ms of pause`);
    assert.ok(pausedMs <= totalMs, `${pausedMs} ms of ${totalMs} ms`);
  });

  on("a refusal may be taken back at once, and its end may be told twice", async (bench) => {
    const readOns: (() => void)[] = [];
    const answer = await answerOf(bench, answering(Buffer.alloc(200_000, "x")), {
      onBytes: (_, readOn) => {
        readOns.push(readOn);
        readOn();
        return false;
      },
    });
    assert.equal(answer.body.length, 200_000);
    for (const readOn of readOns) readOn();
  });

  on("giving up ends an exchange that is not being read", async (bench) => {
    const { signal, abort } = abortable();
    let refused: (() => void) | undefined;
    const ending = exchange(bench, answering(Buffer.alloc(200_000, "x")), {
      signal,
      onBytes: (_, readOn) => {
        refused = readOn;
        bench.clock.after(1, abort);
        return false;
      },
    });
    assert.equal((await ending).kind, "failed");
    refused?.();
  });

  on("giving up ends the exchange", async (bench) => {
    const { signal, abort } = abortable();
    const where = await bench.serve({ kind: "silence" });
    const ending = bench.transport.exchange({
      ...where,
      headers: [],
      limits: SUITE_LIMITS,
      signal,
    });
    abort();
    assert.equal((await ending).kind, "failed");
    const never = await bench.transport.exchange({
      ...where,
      headers: [],
      limits: SUITE_LIMITS,
      signal,
    });
    assert.equal(never.kind, "failed");
  });

  on("closing ends what is under way, and nothing begins after it", async (bench) => {
    const where = await bench.serve({ kind: "silence" });
    const request = { ...where, headers: [], limits: SUITE_LIMITS };
    const ending = bench.transport.exchange(request);
    await bench.transport.close();
    assert.equal((await ending).kind, "failed");
    assert.equal((await bench.transport.exchange(request)).kind, "failed");
  });
}

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

function answering(body: Uint8Array, status = 200): Behaviour & { kind: "answer" } {
  return { kind: "answer", status, headers: [["Content-Type", "text/html"]], body };
}

async function exchange(
  bench: TransportBench,
  behaviour: Behaviour,
  more: Partial<TransportRequest> = {},
): ReturnType<Transport["exchange"]> {
  const where = await bench.serve(behaviour);
  return bench.transport.exchange({ ...where, headers: [], limits: SUITE_LIMITS, ...more });
}

async function answerOf(
  bench: TransportBench,
  behaviour: Behaviour,
  more: Partial<TransportRequest> = {},
): Promise<TransportAnswer> {
  const result = await exchange(bench, behaviour, more);
  assert.ok(result.kind === "answer", JSON.stringify(result));
  return result;
}

async function reasonOf(bench: TransportBench, behaviour: Behaviour): Promise<string> {
  const result = await exchange(bench, behaviour);
  return result.kind === "failed" ? result.reason : `answer ${result.status}`;
}
