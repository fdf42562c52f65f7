import assert from "node:assert/strict";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { systemClock } from "../base/clock.ts";
import { patientClock } from "../base/patient-clock.suite.ts";
import { isRetryable } from "../page/outcome.ts";
import type { TransportRequest } from "./transport.ts";
import {
  type Behaviour,
  SUITE_LIMITS,
  testTransport,
  type TransportBench,
} from "./transport.suite.ts";
import { UndiciTransport, type UndiciTransportOptions } from "./transport-undici.ts";

const OPTIONS: UndiciTransportOptions = {
  clock: patientClock,
  lanesMax: 16,
  http2: true,
  insecureTls: false,
  proxy: undefined,
};

testTransport("undici", () => benchWith(undefined));
testTransport("undici under a window", () => benchWith(4096));

async function benchWith(windowBytes: number | undefined): Promise<TransportBench> {
  const transport = new UndiciTransport(OPTIONS);
  transport.setWindow(windowBytes);
  const stops: (() => void)[] = [];
  return {
    transport,
    clock: patientClock,
    async serve(behaviour) {
      const server = await listening((socket) => behave(socket, behaviour));
      if (behaviour.kind === "refuse") server.stop();
      else stops.push(server.stop);
      return server.where;
    },
    async close() {
      await transport.close();
      for (const stop of stops) stop();
    },
  };
}

test("a connection is kept for the next request to the same address, and for no other", async (t) => {
  const server = await listening((socket) => socket.on("data", () => socket.write(page("hi"))));
  t.after(server.stop);
  const transport = transportFor(t);
  for (let round = 0; round < 3; round++) await transport.exchange(server.request());
  assert.equal(server.connections(), 1);
  await transport.exchange(server.request({ host: "other.test" }));
  assert.equal(server.connections(), 2);
  await transport.exchange(server.request({ address: "127.0.0.2" }));
  assert.equal(server.connections(), 3);
});

test("a kept connection that the server has left is replaced, unseen", async (t) => {
  let requests = 0;
  const server = await listening((socket) => {
    let mine = 0;
    socket.on("data", () => {
      requests++;
      // The second request on a connection finds it closing, without a byte of answer.
      if (++mine === 2) socket.destroy();
      else socket.write(page("hi"));
    });
  });
  t.after(server.stop);
  const transport = transportFor(t);
  for (let round = 0; round < 6; round++) {
    const result = await transport.exchange(server.request());
    assert.equal(result.kind, "answer", `round ${round}: ${JSON.stringify(result)}`);
  }
  assert.ok(requests > 6);
});

test("an unasked second answer is dropped with its connection", async (t) => {
  const server = await listening((socket) =>
    socket.on("data", (asked) => {
      const path = String(asked).split(" ")[1] ?? "";
      socket.write(page(path) + page("evil"));
    }),
  );
  t.after(server.stop);
  const transport = transportFor(t);
  for (const path of ["/one", "/two", "/three"]) {
    const result = await transport.exchange(server.request({ path }));
    assert.ok(result.kind === "answer");
    assert.equal(Buffer.from(result.body).toString(), path);
  }
  assert.equal(server.connections(), 3);
});

test("no more connections are kept than allowed", async (t) => {
  const server = await listening((socket) => socket.on("data", () => socket.write(page("hi"))));
  t.after(server.stop);
  const transport = transportFor(t, { lanesMax: 4 });
  for (let index = 0; index < 20; index++)
    await transport.exchange(server.request({ host: `h${index}.test` }));
  assert.equal(transport.lanes, 4);
});

test("a thousand half-open connections leave no socket behind", async (t) => {
  const server = await listening(() => {});
  t.after(server.stop);
  const transport = transportFor(t);
  const limits = { ...SUITE_LIMITS, firstByteMs: 50 };
  for (let round = 0; round < 10; round++) {
    const asking = Array.from({ length: 100 }, () =>
      transport.exchange(server.request({ limits })),
    );
    for (const result of await Promise.all(asking))
      assert.equal(result.kind === "failed" && result.reason, "first_byte_timeout");
  }
  assert.equal(transport.lanes, 0);
});

test("a reader that is paused stops the server by back-pressure", async (t) => {
  let wroteBytes = 0;
  const server = await listening((socket) =>
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const flood = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) wroteBytes += 65_536;
      };
      socket.on("drain", flood);
      flood();
    }),
  );
  t.after(server.stop);
  const transport = transportFor(t);
  let toldBytes = 0;
  const limits = { ...SUITE_LIMITS, bodyBytesMax: 1e9, totalMs: 60_000 };
  const stop = new AbortController();
  const reading = transport.exchange(
    server.request({
      limits,
      signal: stop.signal,
      onBytes: (bytes) => {
        toldBytes += bytes;
        return false;
      },
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 400));
  stop.abort();
  await reading;
  assert.ok(toldBytes <= 4 * 65_536, `${toldBytes} bytes were read in a pause`);
  assert.ok(wroteBytes < 32 * 1024 * 1024, `${wroteBytes} bytes were written`);
});

test("our own pauses count against no limit, not even the total", async (t) => {
  const server = await listening((socket) =>
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
      // The rest comes some ticks after the pause is over.
      setTimeout(() => socket.write("world"), 850);
    }),
  );
  t.after(server.stop);
  let refusals = 0;
  const result = await transportFor(t).exchange(
    server.request({
      limits: { ...SUITE_LIMITS, totalMs: 600 },
      onBytes: (_, readOn) => {
        if (refusals++ > 0) return true;
        setTimeout(readOn, 700);
        return false;
      },
    }),
  );
  assert.equal(result.kind, "answer", JSON.stringify(result));
});

test("what is cut by closing may be tried again", async (t) => {
  const server = await listening(() => {});
  t.after(server.stop);
  const transport = transportFor(t);
  const ending = transport.exchange(server.request());
  await new Promise((resolve) => setTimeout(resolve, 50));
  await transport.close();
  const result = await ending;
  assert.ok(result.kind === "failed" && isRetryable(result.reason), JSON.stringify(result));
});

test("an answer that came while we ourselves were held up is still an answer", async (t) => {
  const server = await listening(() => {});
  t.after(server.stop);
  // A server in a thread of its own goes on while this one stands still.
  const written = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const tell = () => (Atomics.store(workerData, 0, 1), Atomics.notify(workerData, 0));
     const page = "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhi";
     const server = require("node:net").createServer((socket) => {
       socket.on("error", () => {});
       socket.on("data", () => {
         parentPort.postMessage("asked");
         setTimeout(() => socket.write(page, tell), 50);
       });
     });
     server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: written },
  );
  t.after(() => worker.terminate());
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  // On the real clock, which goes on meanwhile.
  const transport = transportFor(t, { clock: systemClock });
  const asking = transport.exchange(server.request({ port }));
  await new Promise((resolve) => worker.once("message", resolve));
  // Between the reading of sockets and the timers, where our own work on pages is done.
  await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(written, 0, 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * SUITE_LIMITS.firstByteMs);
  const result = await asking;
  assert.equal(result.kind, "answer", JSON.stringify(result));
});

interface Listening {
  readonly where: Pick<TransportRequest, "scheme" | "host" | "port" | "path" | "address">;
  request(more?: Partial<TransportRequest>): TransportRequest;
  connections(): number;
  readonly stop: () => void;
}

async function listening(serve: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server: Server = createServer((socket) => {
    count++;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const where = {
    scheme: "http",
    host: "site.test",
    port,
    path: "/",
    address: "127.0.0.1",
  } as const;
  return {
    where,
    request: (more = {}) => ({ ...where, headers: [], limits: SUITE_LIMITS, ...more }),
    connections: () => count,
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function transportFor(
  t: { after(stop: () => Promise<void>): void },
  more: Partial<UndiciTransportOptions> = {},
): UndiciTransport {
  const transport = new UndiciTransport({ ...OPTIONS, ...more });
  t.after(() => transport.close());
  return transport;
}

function behave(socket: Socket, behaviour: Behaviour): void {
  socket.once("data", () => {
    switch (behaviour.kind) {
      case "answer": {
        const { status, headers, body } = behaviour;
        const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
        socket.write(`HTTP/1.1 ${status} Word\r\n${fields}Content-Length: ${body.length}\r\n\r\n`);
        socket.write(body);
        return;
      }
      case "stall":
      case "cut":
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${behaviour.body.length * 2}\r\n\r\n`);
        if (behaviour.kind === "cut") socket.end(behaviour.body);
        else socket.write(behaviour.body);
        return;
      case "silence":
      case "refuse":
    }
  });
}

function page(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
