import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { canSetWindows } from "./receive-window.ts";
import { Valve } from "./valve.ts";

/** Packets on loopback are of 64 KiB. */
const NARROW_BYTES = 131_072;
const WIDE_BYTES = 4 * NARROW_BYTES;
const skip = canSetWindows() ? false : "needs node:ffi on Linux";

test("whatever is held and released, all bytes come through in order, and then the end", async (t) => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = randomFrom(seed);
    const sent = Buffer.from(Array.from({ length: 60_000 }, () => below(random, 256)));
    const port = await serving(t, (socket) => {
      let at = 0;
      const next = (): void => {
        const to = at + 1 + below(random, 9_000);
        const piece = sent.subarray(at, to);
        at = to;
        if (at < sent.length) socket.write(piece, () => setImmediate(next));
        else socket.end(piece);
      };
      next();
    });
    let reads = 0;
    const valve = valveTo(below(random, 2) === 0 ? "127.0.0.1" : undefined, () => {
      reads += 1;
      if (below(random, 3) > 0) return;
      valve.hold();
      setImmediate(() => valve.release());
    });
    valve.socket.connect({ host: "127.0.0.1", port });
    const came: Buffer[] = [];
    for await (const piece of valve.stream) came.push(piece as Buffer);
    assert.ok(Buffer.concat(came).equals(sent), `seed ${seed}`);
    assert.ok(reads >= sent.length / 4096, `seed ${seed}: only ${reads} reads`);
    assert.equal(valve.socket.bytesRead, sent.length, `seed ${seed}`);
  }
});

test(
  "a connection that is never held is given a wider window, up to its bound",
  { skip },
  async (t) => {
    const port = await serving(t, (socket) => socket.end(Buffer.alloc(2_000_000)));
    const widths = new Set<number | undefined>();
    const onRead = (): unknown => widths.add(valve.windowBytes);
    const valve = new Valve({ address: "127.0.0.1", windowBytes: 4096, onRead, longWayMs: 0 });
    valve.socket.connect({ host: "127.0.0.1", port });
    await valve.stream.forEach(() => {});
    assert.deepEqual([...widths], [4096, 8192, 16_384, 32_768]);
  },
);

test("a connection that is held now and then keeps its window", { skip }, async (t) => {
  const port = await serving(t, (socket) => socket.end(Buffer.alloc(500_000)));
  let reads = 0;
  const valve = valveTo("127.0.0.1", () => {
    assert.equal(valve.windowBytes, 4096);
    if (reads++ % 3 > 0) return;
    valve.hold();
    setImmediate(() => valve.release());
  });
  valve.socket.connect({ host: "127.0.0.1", port });
  await valve.stream.forEach(() => {});
  assert.equal(valve.socket.bytesRead, 500_000);
});

test("a window is narrowed while it is full, and nothing is lost by that", { skip }, async (t) => {
  const sent = Buffer.alloc(6_000_000, "the fence that catches its fish ");
  const port = await serving(t, (socket) => socket.end(sent));
  let looks = 0;
  const valve = new Valve({
    address: "127.0.0.1",
    windowBytes: WIDE_BYTES,
    onRead: () => {
      if (looks > 0 || valve.socket.bytesRead < 2 * WIDE_BYTES) return;
      valve.hold();
      valve.setWindow(NARROW_BYTES);
      const goOn = (): void => {
        const isOver = valve.windowBytes === NARROW_BYTES || ++looks > 200;
        if (isOver) valve.release();
        else setTimeout(goOn, 5);
      };
      goOn();
    },
  });
  valve.socket.connect({ host: "127.0.0.1", port });
  const came: Buffer[] = [];
  for await (const piece of valve.stream) came.push(piece as Buffer);
  assert.ok(Buffer.concat(came).equals(sent));
  assert.equal(valve.windowBytes, NARROW_BYTES);
});

test("a server that sends as fast as it is read keeps no other work from its turn", async (t) => {
  const port = await serving(t, (socket) => socket.end(Buffer.alloc(20_000_000)));
  let turns = 0;
  let atTurn = 0;
  let inARowBytes = 0;
  let mostInARowBytes = 0;
  let readBefore = 0;
  const turn = (): void => {
    turns += 1;
    if (!valve.socket.destroyed) setImmediate(turn);
  };
  const valve = new Valve({
    address: "127.0.0.1",
    windowBytes: 65_536,
    onRead: () => {
      if (turns !== atTurn) inARowBytes = 0;
      atTurn = turns;
      inARowBytes += valve.socket.bytesRead - readBefore;
      readBefore = valve.socket.bytesRead;
      mostInARowBytes = Math.max(mostInARowBytes, inARowBytes);
    },
  });
  setImmediate(turn);
  valve.socket.connect({ host: "127.0.0.1", port });
  valve.stream.resume();
  await new Promise((resolve) => valve.stream.once("end", resolve));
  valve.stream.destroy();
  assert.equal(readBefore, 20_000_000);
  assert.ok(mostInARowBytes <= 320 * 1024, `${mostInARowBytes} bytes in a row`);
});

test("an error below is an error above, and closing above closes below", async (t) => {
  const port = await serving(t, (socket) => socket.once("data", () => socket.resetAndDestroy()));
  const reset = valveTo("127.0.0.1", () => {});
  const failed = new Promise<NodeJS.ErrnoException>((resolve) =>
    reset.stream.once("error", resolve),
  );
  reset.socket.connect({ host: "127.0.0.1", port });
  reset.stream.resume().write("hello");
  assert.equal((await failed).code, "ECONNRESET");

  const closed = valveTo("127.0.0.1", () => {});
  closed.socket.connect({ host: "127.0.0.1", port });
  await new Promise((resolve) => closed.socket.once("connect", resolve));
  closed.stream.destroy();
  assert.equal(closed.socket.destroyed, true);
});

function valveTo(address: string | undefined, onRead: () => void): Valve {
  return new Valve({ address, windowBytes: 4096, onRead });
}

async function serving(
  t: { after(stop: () => void): void },
  serve: (socket: Socket) => void,
): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}
