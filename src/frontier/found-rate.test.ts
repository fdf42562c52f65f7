import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, type Random, randomFrom } from "../base/random.ts";
import { FoundRate } from "./found-rate.ts";
import { type Addressee, Politeness, POLITENESS_DEFAULTS, type Turn } from "./politeness.ts";

/** Whether a server accepts a request that arrives now, and otherwise its Retry-After. */
type Limit = (nowMs: number) => { readonly retryAfterMs: number | undefined } | undefined;

interface Allowed {
  readonly count: number;
  readonly windowMs: number;
  readonly saysWhen: boolean;
}

function fixedWindow({ count, windowMs, saysWhen }: Allowed): Limit {
  let window = -1;
  let used = 0;
  return (nowMs) => {
    const present = Math.floor(nowMs / windowMs);
    if (present !== window) used = 0;
    window = present;
    used += 1;
    if (used <= count) return undefined;
    const leftMs = (present + 1) * windowMs - nowMs;
    return { retryAfterMs: saysWhen ? Math.ceil(leftMs / 1000) * 1000 : undefined };
  };
}

function slidingWindow({ count, windowMs, saysWhen }: Allowed): Limit {
  const accepted: number[] = [];
  return (nowMs) => {
    while ((accepted[0] ?? Infinity) <= nowMs - windowMs) accepted.shift();
    if (accepted.length < count) return void accepted.push(nowMs);
    const leftMs = (accepted[0] ?? nowMs) + windowMs - nowMs;
    return { retryAfterMs: saysWhen ? Math.ceil(leftMs / 1000) * 1000 : undefined };
  };
}

interface Server {
  readonly limit: Limit;
  readonly status: 429 | 503;
  readonly concurrency: number;
  readonly delayMs: number;
  /** From request to response. */
  latencyMs(): number;
  /** URLs that fail in any case. */
  fails?(request: number): boolean;
}

interface Sent {
  readonly accepted: number;
  readonly refused: number;
}

/** Sends requests for so long, as fast as politeness allows; counts those after `fromMs`. */
function crawl(server: Server, fromMs: number, toMs: number, saved = ""): Sent {
  const politeness = new Politeness({
    ...POLITENESS_DEFAULTS,
    siteConcurrencyMax: server.concurrency,
  });
  const to: Addressee = { siteId: 1, address: "a", delayMs: server.delayMs, addressDelayMs: 0 };
  politeness.restoreRate(1, saved);
  const open: { readonly turn: Turn; readonly endsAtMs: number; readonly arrivesAtMs: number }[] =
    [];
  let [nowMs, accepted, refused, requests] = [0, 0, 0, 0];
  while (nowMs < toMs) {
    const next = open[0];
    // Timers have whole milliseconds.
    const startsAtMs = Math.max(nowMs, Math.ceil(politeness.readyAtMs(to)));
    if (next !== undefined && next.endsAtMs <= startsAtMs) {
      open.shift();
      nowMs = next.endsAtMs;
      requests += 1;
      const isBad = server.fails?.(requests) === true;
      const refusal = isBad ? { retryAfterMs: undefined } : server.limit(next.arrivesAtMs);
      const reason = refusal === undefined ? ("ok" as const) : (`http_${server.status}` as const);
      const ending = { reason, retryAfterMs: refusal?.retryAfterMs, chance: 0.5 };
      politeness.end(nowMs, next.turn, ending);
      if (nowMs < fromMs) continue;
      if (refusal === undefined) accepted += 1;
      else if (!isBad) refused += 1;
      continue;
    }
    nowMs = startsAtMs;
    if (!Number.isFinite(nowMs)) throw new Error("nothing will ever be sent");
    const turn = politeness.begin(nowMs, to);
    politeness.sent(nowMs, turn);
    const latencyMs = server.latencyMs();
    open.push({ turn, arrivesAtMs: nowMs + latencyMs / 2, endsAtMs: nowMs + latencyMs });
    open.sort((a, b) => a.endsAtMs - b.endsAtMs);
  }
  return { accepted, refused };
}

/** A server with a limit of 1 to 100 requests/s over 1 to 60 s. */
function drawn(random: Random): { readonly server: Server; readonly allowed: Allowed } {
  const windowMs = 1_000 * 60 ** random.next();
  const count = Math.max(1, Math.round((100 ** random.next() * windowMs) / 1000));
  const allowed = { count, windowMs, saysWhen: random.next() < 0.3 };
  const limit = pick(random, [fixedWindow, slidingWindow])(allowed);
  const baseMs = 1 + 5 * random.next();
  return {
    allowed,
    server: {
      limit,
      status: 429,
      concurrency: 1 + below(random, 4),
      delayMs: pick(random, [0, 0, 5]),
      latencyMs: () => baseMs * (0.5 + random.next()),
    },
  };
}

/** More with WEIR_RATE_SEEDS. */
const SEEDS = Number(process.env["WEIR_RATE_SEEDS"] ?? 300);

test("at least 80 % of what a limit allows is used, and at most 2 % is refused", () => {
  let sum = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { server, allowed } = drawn(randomFrom(seed));
    const { count, windowMs } = allowed;
    // Within a minute or two windows the limit is found; then whole windows are compared.
    const fromMs = Math.ceil(Math.max(60_000, 2 * windowMs) / windowMs) * windowMs;
    const windows = Math.ceil(Math.max(10, 1_000 / count));
    const { accepted, refused } = crawl(server, fromMs, fromMs + windows * windowMs);
    const used = accepted / (windows * count);
    const lost = refused / (accepted + refused);
    const what = `seed ${seed}: ${count} requests in ${windowMs} ms`;
    assert.ok(used >= 0.8, `${what}: ${used} used`);
    assert.ok(lost <= 0.02, `${what}: ${lost} refused`);
    sum += used;
  }
  assert.ok(sum / SEEDS > 0.9, `${sum / SEEDS} used on average`);
});

test("nginx's limit of 10/s, which answers 503, is found too", () => {
  let [tokens, atMs] = [20, 0];
  const limit: Limit = (nowMs) => {
    tokens = Math.min(20, tokens + (nowMs - atMs) / 100);
    atMs = nowMs;
    if (tokens < 1) return { retryAfterMs: undefined };
    tokens -= 1;
    return undefined;
  };
  const server = { limit, status: 503, concurrency: 2, delayMs: 0, latencyMs: () => 5 } as const;
  const { accepted, refused } = crawl(server, 60_000, 360_000);
  assert.ok(accepted > 0.8 * 3_000, `${accepted} accepted`);
  assert.ok(refused < 0.03 * 3_000, `${refused} refused`);
});

test("1 % of URLs that always answer 503 slow a site down to no less than half", () => {
  const random = randomFrom(1);
  const healthy: Server = {
    limit: () => undefined,
    status: 503,
    concurrency: 1,
    delayMs: 100,
    latencyMs: () => 20,
  };
  const free = crawl(healthy, 0, 3_600_000).accepted;
  const fails = (): boolean => random.next() < 0.01;
  const { accepted } = crawl({ ...healthy, fails }, 0, 3_600_000);
  assert.ok(accepted > free / 2, `${accepted} instead of ${free}`);
});

test("a rate survives save and restore: the limit is not found again", () => {
  const limit = (): Limit => slidingWindow({ count: 100, windowMs: 10_000, saysWhen: false });
  const server = { status: 429, concurrency: 4, delayMs: 0, latencyMs: () => 5 } as const;
  const first = crawl({ ...server, limit: limit() }, 0, 9_000);
  assert.ok(first.refused > 0);
  const again = crawl({ ...server, limit: limit() }, 0, 9_000, "429 9");
  assert.equal(again.refused, 0);
  assert.ok(again.accepted > 75, `${again.accepted} accepted`);
});

/** A site that accepted so many requests in so many seconds, its pause included. */
function after(accepted: number, seconds: number, by: 429 | 503 = 429): FoundRate {
  const rate = new FoundRate();
  rate.began(0, 0);
  for (let count = 1; count < accepted; count++) rate.accepted(0);
  rate.refused(1, by, 1_000);
  rate.refused(1_001, by, 1_000);
  rate.accepted(1000 * seconds);
  return rate;
}

function perSecondOf(rate: FoundRate): number {
  return rate.slowed?.perSecond ?? Number.NaN;
}

test("the first rate is nine tenths of what was accepted, and grows faster the fewer requests it rests on", () => {
  const rate = after(100, 10);
  assert.equal(perSecondOf(rate), 9);
  assert.equal(rate.readyAtMs(false), 10_000 + 1000 / 9);
  rate.began(rate.readyAtMs(false), 0);
  assert.ok(Math.abs(perSecondOf(rate) - 9 * (1 + 0.01 / 9)) < 1e-9, "1 % in a second at most");
  const slow = after(100, 100);
  slow.began(slow.readyAtMs(false), 0);
  assert.ok(Math.abs(perSecondOf(slow) - 0.9 * 1.003) < 1e-9, "0.3 by 100 requests");
});

test("a refusal pauses for four requests, and so does a retry", () => {
  const rate = after(100, 10);
  rate.began(11_000, 0);
  const gapMs = 1000 / perSecondOf(rate);
  assert.equal(rate.readyAtMs(true), 11_000 + 4 * gapMs);
  assert.equal(rate.refused(11_000, 429, 1_000), 4 * gapMs);
});

test("a late request may be followed 5 ms sooner, an idle one is no reason to grow", () => {
  const late = after(100, 10);
  const startMs = late.readyAtMs(false) + 8;
  late.began(startMs, 0);
  assert.ok(Math.abs(late.readyAtMs(false) - (startMs - 5 + 1000 / 9)) < 1);
  const idle = after(100, 10);
  idle.began(20_000, 0);
  assert.equal(perSecondOf(idle), 9);
});

test("a single 503 means the rate after 20 requests, and after more it lowers the rate by 5 %", () => {
  const single = (accepted: number, perSecond: number): number => {
    const rate = new FoundRate();
    rate.restore(`503 ${perSecond}`);
    rate.began(0, 0);
    for (let count = 1; count < accepted; count++) rate.accepted(0);
    rate.refused(1_000, 503, 1_000);
    rate.accepted(2_000);
    return perSecondOf(rate);
  };
  assert.equal(single(20, 10), 9);
  assert.equal(single(21, 10), 9.5);
  assert.equal(single(21, 1.01), 1);
  assert.equal(single(21, 0.7), 0.7);
});

test("503 for two minutes is an outage, and a minute without requests begins a new cycle", () => {
  assert.equal(perSecondOf(after(12, 119, 503)), (12 / 119) * 0.9);
  assert.equal(after(12, 121, 503).slowed, undefined);
  for (const [idleMs, expected] of [
    [59_000, 20 / 60],
    [61_000, 10 / 1],
  ] as const) {
    const rate = new FoundRate();
    rate.began(0, 0);
    for (let count = 0; count < 10; count++) rate.accepted(0);
    rate.began(idleMs, 0);
    for (let count = 0; count < 9; count++) rate.accepted(idleMs);
    rate.refused(idleMs, 429, 1_000);
    rate.accepted(idleMs + 1_000);
    assert.ok(Math.abs(perSecondOf(rate) - expected * 0.9) < 1e-9);
  }
});

test("what was not written by `save` is ignored", () => {
  for (const saved of ["", "429", "429 0", "429 -1", "429 x", "200 5", "503 NaN", "429 0.016"]) {
    const rate = new FoundRate();
    rate.restore(saved);
    assert.equal(rate.slowed, undefined, saved);
  }
  const rate = new FoundRate();
  rate.restore("503 0.017");
  assert.equal(perSecondOf(rate), 0.017);
  rate.restore("503 Infinity");
  assert.deepEqual(rate.slowed, { by: 503, perSecond: 10_000 });
  assert.equal(rate.save(), "503 1.000e+4");
});

test("two minutes of 503 after few requests leave the rate as it was", () => {
  const rate = new FoundRate();
  rate.began(0, 0);
  rate.accepted(0);
  for (let nowMs = 0; nowMs <= 130_000; nowMs += 10_000) rate.refused(nowMs, 503, 10_000);
  rate.accepted(140_000);
  assert.equal(rate.slowed, undefined);
});
