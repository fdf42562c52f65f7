import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, type Random, randomFrom } from "../../base/random.ts";
import { Governor } from "./governor.ts";
import type { PacedFlow } from "./paced-flow.ts";
import { Pipe, type PipePlan, type Server, spreadOf } from "./pipe.suite.ts";
import { windowFor } from "../window.ts";

const LIMITS_BPS = [1e5, 1e6, 1e7];
const WARM_UP_MS = 4000;
const QUICK = {
  siteId: 1,
  predictedBps: 1e6,
  expectedBytes: 10_000,
  expectedWaitMs: 5,
  passedOverMs: 0,
};

test("1: bytes by any moment are at most burst + rate * time + a window for each download", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { limitBps, pipe, windowBytes } = pipeOf(seed);
    pipe.run(5000);
    const allowed = 0.04 * limitBps + 3 * pipe.openMost * windowBytes;
    for (const lengthMs of [100, 1000, 3000])
      for (const bytes of pipe.windows(0, lengthMs))
        assert.ok(
          bytes <= (limitBps * lengthMs) / 1000 + allowed,
          `seed ${seed}: ${bytes} bytes in ${lengthMs} ms at ${limitBps} B/s`,
        );
  }
});

test("2: with work for it the rate is taken in full, whatever was predicted", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const wrong = 10 ** (2 * randomFrom(seed).next() - 1);
    const { limitBps, pipe } = pipeOf(seed, {
      isAnnounced: seed % 2 === 0,
      guess: ({ speedBps }) => ({ predictedBps: speedBps * wrong }),
    });
    pipe.run(WARM_UP_MS + 6000);
    const { mean } = spreadOf(pipe.windows(WARM_UP_MS), limitBps);
    assert.ok(
      mean > 0.95,
      `seed ${seed}: ${mean} of the limit, predictions ${wrong} times the truth`,
    );
  }
});

test("3: no burst after a sleep, after a stall, or when the limit changes", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { limitBps, pipe, governor, windowBytes } = pipeOf(seed, {
      stallMs: (nowMs) => (nowMs === 2500 ? 400 : 0),
    });
    pipe.run(3500);
    pipe.sleep(30_000);
    pipe.run(2000);
    const atMs = pipe.nowMs;
    governor.setLimit(atMs, limitBps * 4);
    pipe.run(2000);
    // Windows filled while nobody looked are there at once, and are no choice of ours.
    const held = 3 * pipe.openMost * windowBytes;
    for (const bytes of pipe.windows(0, 1000).slice(0, Math.floor((atMs - 1000) / 100)))
      assert.ok(
        bytes <= 1.05 * limitBps + held,
        `seed ${seed}: ${bytes / limitBps} before the change`,
      );
    for (const bytes of pipe.windows(atMs, 1000))
      assert.ok(bytes <= 4.2 * limitBps + held, `seed ${seed}: ${bytes / limitBps} after it`);
  }
});

test("4: a site never takes more than its own limit, and nobody else waits for it", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { limitBps, pipe, governor, windowBytes } = pipeOf(seed);
    const { pipe: freePipe } = pipeOf(seed);
    const siteBps = limitBps / 50;
    governor.setSiteLimit(0, 0, siteBps);
    pipe.run(WARM_UP_MS + 6000);
    freePipe.run(WARM_UP_MS + 6000);
    const seconds = pipe.nowMs / 1000;
    const most = siteBps * (seconds + 0.1) + 3 * windowBytes * pipe.openMost;
    assert.ok(pipe.bytesOf(0) <= most, `seed ${seed}: ${pipe.bytesOf(0)} of ${most}`);
    const { mean } = spreadOf(pipe.windows(WARM_UP_MS), limitBps);
    const { mean: freeMean } = spreadOf(freePipe.windows(WARM_UP_MS), limitBps);
    assert.ok(mean > 0.95 * freeMean, `seed ${seed}: ${mean} of the limit, ${freeMean} without`);
  }
});

test("5: with an order, who ranks first takes what it can, and the rest gets what is left in full", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { limitBps, pipe, governor } = pipeOf(seed);
    const { pipe: freePipe } = pipeOf(seed);
    governor.setOrder((siteId) => (siteId === 0 ? 0 : 1));
    pipe.run(WARM_UP_MS + 6000);
    freePipe.run(WARM_UP_MS + 6000);
    const { mean } = spreadOf(pipe.windows(WARM_UP_MS), limitBps);
    assert.ok(mean > 0.94, `seed ${seed}: ${mean} of the limit`);
    assert.ok(
      pipe.bytesOf(0) >= freePipe.bytesOf(0),
      `seed ${seed}: ${pipe.bytesOf(0)} first, ${freePipe.bytesOf(0)} in turn`,
    );
  }
});

test("6: who was passed over for long enough begins although enough is under way", () => {
  const governor = new Governor(0, 1e5, 30_000);
  governor.setWindow(8192);
  let nowMs = 0;
  while (governor.admits(nowMs, { ...QUICK, expectedBytes: 60_000 }) || nowMs < 5000) {
    governor.begin(nowMs, { ...QUICK, expectedBytes: 60_000 });
    nowMs += 1000;
  }
  assert.equal(governor.admits(nowMs, { ...QUICK, passedOverMs: 29_999 }), false);
  assert.equal(governor.admits(nowMs, { ...QUICK, passedOverMs: 30_000 }), true);
});

test("the smallest limit there is lets requests begin, too", () => {
  const governor = new Governor(0, 4000);
  governor.setWindow(windowFor(4000));
  const server = { siteId: 1, speedBps: 1e6, waitMs: () => 5, sizeBytes: () => 30_000 };
  const plan = { servers: [server], random: randomFrom(1), connectionsMax: 4 };
  const pipe = new Pipe({ ...plan, windowBytes: 1152, isAnnounced: true }, governor);
  pipe.run(60_000);
  assert.ok(pipe.bytesOf(1) > 0.9 * 4000 * 60, `${pipe.bytesOf(1)} bytes in a minute`);
});

test("what slow answers were given in advance is another's, from their first byte on", () => {
  const governor = new Governor(0, 1e5);
  governor.setWindow(8192);
  const trickling = {
    siteId: 1,
    predictedBps: 1000,
    expectedBytes: 20_000,
    expectedWaitMs: 0,
    passedOverMs: 0,
  };
  for (let answer = 0; answer < 10; answer++) {
    const flow = governor.begin(0, trickling);
    governor.came(0, flow, 10);
    governor.end(0, flow);
  }
  assert.equal(governor.admits(1000, trickling), true);
  for (let download = 0; download < 5; download++)
    governor.came(1010, governor.begin(1000, trickling), 100);
  assert.equal(governor.admits(1060, trickling), false, "all five have paid for first bytes");
  for (let nowMs = 1070; nowMs < 1260; nowMs += 10) governor.admits(nowMs, trickling);
  assert.equal(governor.admits(1260, trickling), true, "which do not come");
});

test("what lies unread is paid for as it is: more at once, less when nothing more may come", () => {
  const governor = new Governor(0, 1e6);
  governor.setWindow(8192);
  const server = { ...QUICK, expectedBytes: 60_000, predictedBps: 1e6 };
  const flow = governor.begin(0, server);
  governor.announce(5, flow, 60_000);
  while (governor.came(5, flow, 2000));
  const dueAtMs = governor.nextAtMs(5);
  governor.liesUnread(flow, 0, true);
  assert.equal(governor.nextAtMs(5), dueAtMs, "its window may still be filling");
  governor.liesUnread(flow, 40_000, true);
  assert.ok(governor.nextAtMs(5) > dueAtMs + 20, "so much came that nobody had reckoned with");
  governor.liesUnread(flow, 0, false);
  assert.ok(governor.nextAtMs(5) < dueAtMs, "nothing came of what was set aside");
});

test("what two machines tell each other first is no answer", () => {
  // Of servers that nobody knows and that take a second: what one more download adds is spread over that time.
  const unknown = { ...QUICK, expectedWaitMs: 0 };
  const expectedBps = (isGreeting: boolean): number => {
    const own = new Governor(0, 1e6);
    own.setWindow(8192);
    for (let answer = 0; answer < 40; answer++) {
      const flow = own.begin(0, unknown);
      own.came(20, flow, 100, isGreeting);
      own.announce(isGreeting ? 1000 : 20, flow, undefined);
      own.end(1000, flow);
    }
    own.begin(1000, unknown);
    return own.predictedBps;
  };
  assert.ok(expectedBps(true) < 0.2 * expectedBps(false), "it would come much later");
});

test("what greetings have brought is set aside for the next, also where the answer comes later", () => {
  const slow = { ...QUICK, expectedWaitMs: 1000 };
  const leftBytesAfter = (greetingBytes: number): number => {
    const governor = new Governor(0, 1e6);
    governor.setWindow(8192);
    for (let answer = 0; answer < 100; answer++) {
      const flow = governor.begin(0, slow);
      governor.came(0, flow, greetingBytes, true);
      governor.announce(0, flow, 0);
      governor.end(0, flow);
    }
    assert.equal(governor.admits(10_000, slow), true);
    governor.begin(10_000, slow);
    const reader = governor.begin(10_000, slow);
    while (governor.came(10_000, reader, 100));
    return reader.receivedBytes;
  };
  assert.ok(leftBytesAfter(4000) < leftBytesAfter(0) - 3500);
});

test("what a greeting brought is known also where nothing of the answer came apart from it", () => {
  const governor = new Governor(0, 1e5);
  governor.setWindow(2304);
  const first = governor.begin(0, { ...QUICK, expectedWaitMs: 0 });
  governor.came(10, first, 2500, true);
  governor.end(20, first);
  const [known, unknown] = [200, 0].map((expectedWaitMs) => {
    const flow = governor.begin(1000, { ...QUICK, siteId: 2, expectedWaitMs }) as PacedFlow;
    governor.end(1000, flow);
    return flow.grantedBytes;
  });
  assert.equal(known, 0, "a slow server that is known is likely to have a connection");
  assert.ok((unknown ?? 0) > 2500, `${unknown} bytes for one that needs a greeting`);
});

test("what came beside the bytes of downloads is paid for like them", () => {
  const governor = new Governor(0, 1e6);
  governor.setWindow(8192);
  const flow = governor.begin(0, QUICK);
  while (governor.came(0, flow, 3000));
  const beforeMs = governor.nextAtMs(0);
  governor.cameBeside(0, 9920);
  assert.equal(Math.round(governor.nextAtMs(0) - beforeMs), 10);
  governor.cameBeside(0, -9920);
  assert.equal(governor.nextAtMs(0), beforeMs);
});

test("a download that was under way when windows were changed is read by the one it has now", () => {
  const governor = new Governor(0, 1e6);
  governor.setWindow(2304);
  const flow = governor.begin(0, { ...QUICK, expectedBytes: 60_000 });
  for (const [atMs, windowBytes] of [[0, 8192] as const, [1000, 2304] as const]) {
    governor.setWindow(windowBytes);
    while (governor.came(atMs, flow, 3000));
    assert.equal(governor.next(atMs + 500), flow);
    const { grantedBytes, receivedBytes } = flow as PacedFlow;
    assert.equal(grantedBytes - receivedBytes, windowBytes / 2);
  }
});

test("what the line carried unseen is paid for, and what was granted and has not come is not taken for it", () => {
  const governor = new Governor(0, 1e6);
  governor.setWindow(8192);
  const flow = governor.begin(0, QUICK);
  while (governor.came(0, flow, 3000));
  governor.carried(0, 1e6);
  const beforeMs = governor.nextAtMs(0);
  governor.begin(0, QUICK);
  const paidAheadMs = governor.nextAtMs(0) - beforeMs;
  assert.ok(paidAheadMs > 0);
  governor.carried(0, 1e6);
  assert.equal(governor.nextAtMs(0) - beforeMs, paidAheadMs, "it may still come");
  governor.carried(0, 1e6 + 9950);
  assert.equal(Math.round(governor.nextAtMs(0) - beforeMs - paidAheadMs), 10);
});

test("without a limit everything is let through, and nobody waits", () => {
  const governor = new Governor(0, undefined);
  const candidate = {
    siteId: 1,
    predictedBps: 1e9,
    expectedBytes: 1e9,
    expectedWaitMs: 0,
    passedOverMs: 0,
  };
  assert.equal(governor.admits(0, candidate), true);
  const flow = governor.begin(0, candidate);
  assert.equal(governor.came(0, flow, 1e9), true);
  assert.equal(governor.next(0), undefined);
});

test("what slow servers brought beyond the rate is made up for, however wrong their sizes were foreseen", () => {
  const limitBps = 1e7;
  const random = randomFrom(1);
  const servers = Array.from({ length: 50 }, (_, siteId) => {
    const waitMs = 200 * 15 ** random.next();
    return { siteId, speedBps: 1e9, waitMs: () => waitMs, sizeBytes: () => 8000 };
  });
  const { governor, pipe } = pipeOf(1, {
    servers,
    connectionsMax: 5000,
    windowBytes: 65_536,
    guess: () => ({ expectedBytes: 7000 }),
  });
  governor.setLimit(0, limitBps);
  governor.setWindow(2 * 65_536);
  pipe.run(20_000);
  const { mean } = spreadOf(pipe.windows(8000), limitBps);
  assert.ok(mean > 0.97 && mean < 1.01, `${mean} of the limit`);
});

test("a body that comes later than its header counts as due until it arrives", () => {
  const limitBps = 333_000;
  for (let seed = 1; seed <= 4; seed++) {
    const random = randomFrom(seed);
    const servers = Array.from({ length: 50 }, (_, siteId) => ({
      siteId,
      speedBps: 1e8,
      waitMs: () => 1 + 5 * random.next(),
      bodyWaitMs: () => 1000 + 2000 * random.next(),
      sizeBytes: () => Math.round(2000 * 200 ** random.next()),
    }));
    const governor = new Governor(0, limitBps);
    const windowBytes = windowFor(limitBps) ?? 0;
    governor.setWindow(windowBytes);
    const plan = { servers, random, connectionsMax: 2048, isAnnounced: true };
    const pipe = new Pipe({ ...plan, windowBytes: windowBytes / 2 }, governor);
    pipe.run(25_000);
    const { mean, most } = spreadOf(pipe.windows(8000), limitBps);
    assert.ok(most < 1.1, `seed ${seed}: ${most} of the limit in a second`);
    assert.ok(mean > 0.95, `seed ${seed}: ${mean} of the limit`);
  }
});

test("windows are smallest where a second holds least, and the system's where it holds plenty", () => {
  assert.equal(windowFor(4000), windowFor(1e5));
  assert.ok((windowFor(5e7) ?? 0) > (windowFor(1e6) ?? 0));
  assert.equal(windowFor(1e9), undefined);
});

function pipeOf(
  seed: number,
  changes: Partial<PipePlan> = {},
): {
  readonly limitBps: number;
  readonly windowBytes: number;
  readonly governor: Governor;
  readonly pipe: Pipe;
} {
  const random = randomFrom(seed);
  const limitBps = pick(random, LIMITS_BPS);
  const windowBytes = (windowFor(limitBps) ?? 0) / 2;
  const governor = new Governor(0, limitBps);
  governor.setWindow(windowFor(limitBps));
  const pipe = new Pipe(
    {
      servers: serversOf(random, limitBps),
      random,
      connectionsMax: 512,
      windowBytes,
      isAnnounced: true,
      ...changes,
    },
    governor,
  );
  return { limitBps, windowBytes, governor, pipe };
}

/** Quick or slow to begin, all fast or spread a hundredfold; pages of one of three sizes. */
function serversOf(random: Random, limitBps: number): Server[] {
  const between = (least: number, most: number): number => least * (most / least) ** random.next();
  const [small, large] = pick(random, [
    [2000, 20_000] as const,
    [3000, 2e5] as const,
    [2e5, 2e7] as const,
  ]);
  const waitMostMs = pick(random, [5, 50, 500]);
  const speedLeastBps = pick(random, [limitBps, limitBps / 20]);
  return Array.from({ length: 50 }, (_, siteId) => ({
    siteId,
    speedBps: between(speedLeastBps, 10 * limitBps),
    waitMs: () => 1 + random.next() * waitMostMs,
    sizeBytes: () => Math.round(between(small, large)),
  }));
}

test("a greeting waits for nobody, and is paid for", () => {
  const governor = new Governor(0, 1e5);
  governor.setWindow(2304);
  const flow = governor.begin(0, { ...QUICK, expectedWaitMs: 0 });
  while (governor.came(0, flow, 3000));
  const beforeMs = governor.nextAtMs(0);
  const other = governor.begin(0, { ...QUICK, siteId: 2, expectedWaitMs: 200 });
  for (let piece = 0; piece < 4; piece++) assert.equal(governor.came(0, other, 990, true), true);
  assert.equal(Math.round(governor.nextAtMs(0) - beforeMs), 40);
});

test("nobody begins once the last second has had its part, and somebody does when it is over", () => {
  const governor = new Governor(0, 1e6);
  governor.setWindow(8192);
  governor.carried(0, 0);
  // The line carries the limit for a second, and half a tenth more at its end; all of it is paid for by then.
  let lineBytes = 0;
  for (let atMs = 100; atMs <= 1000; atMs += 100) {
    lineBytes += atMs === 1000 ? 150_000 : 99_000;
    governor.cameBeside(atMs, 1);
    governor.carried(atMs, lineBytes);
  }
  const restedAtMs = 1060;
  governor.carried(restedAtMs, lineBytes);
  assert.equal(governor.isShut(restedAtMs), true);
  assert.equal(governor.admits(restedAtMs, QUICK), false);
  const laterAtMs = 2100;
  assert.equal(governor.isShut(laterAtMs), false);
  assert.equal(governor.admits(laterAtMs, QUICK), true);
});

test("nobody waits whose rest comes in unread anyhow, and it is paid for", () => {
  for (const isKnownBefore of [true, false]) {
    const governor = new Governor(0, 1e6);
    governor.setWindow(8192);
    const flow = governor.begin(0, { ...QUICK, expectedBytes: 1000 }) as PacedFlow;
    if (isKnownBefore) governor.announce(0, flow, 15_000);
    assert.equal(governor.came(0, flow, 13_000), isKnownBefore, "2,000 bytes fit into the window");
    if (!isKnownBefore) {
      assert.equal(governor.next(0), undefined);
      governor.announce(0, flow, 15_000);
      assert.equal(governor.nextAtMs(0), 0);
      assert.equal(governor.next(0), flow);
    }
    assert.equal(governor.waiting, 0);
    assert.equal(flow.paidBytes, 15_000);
    assert.equal(governor.came(1, flow, 2000), true);
    assert.equal(flow.paidBytes, 15_000);
  }
});

test("whose rest does not fit into the window waits as before", () => {
  const governor = new Governor(0, 1e6);
  governor.setWindow(8192);
  const flow = governor.begin(0, { ...QUICK, expectedBytes: 1000 });
  governor.announce(0, flow, 30_000);
  assert.equal(governor.came(0, flow, 13_000), false);
  assert.equal(governor.next(0), undefined);
});

test("while requests are spaced nobody is looked for, and without a limit everybody is", () => {
  const governor = new Governor(0, 1e5);
  governor.setWindow(2304);
  assert.equal(governor.isShut(0), false);
  governor.begin(0, QUICK);
  assert.equal(governor.isShut(1), true);
  assert.equal(governor.admits(1, QUICK), false);
  assert.equal(new Governor(0, undefined).isShut(0), false);
});
