import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { below, pick, randomFrom } from "../base/random.ts";
import type { Random } from "../base/random.ts";
import { PARCEL_BYTES_MAX } from "./bus.ts";
import { URL_MESSAGE_CHARACTERS_MAX, URL_MESSAGE_URLS_MAX } from "./url-message.ts";
import { cutForMessages, decodeUrlMessage, encodeUrlMessage } from "./url-message.ts";
import type { UrlMessage, MovedUrl, SentUrl } from "./url-message.ts";

const URL = "https://site.example/a?b=%C3%A9";
const SENT: SentUrl = { url: URL, depth: 3, redirects: 1, links: 12, score: -2.5 };

test("a message survives its encoding", () => {
  const urls: UrlMessage = { kind: "urls", epoch: 7, urls: [SENT, { ...SENT, links: 0 }] };
  assert.deepEqual(decodeUrlMessage(encodeUrlMessage(urls)), urls);
  const moved: MovedUrl = { ...SENT, attempts: 2, state: "ended" };
  const frontier: UrlMessage = { kind: "frontier", epoch: 0, urls: [moved] };
  assert.deepEqual(decodeUrlMessage(encodeUrlMessage(frontier)), frontier);
  const empty: UrlMessage = { kind: "urls", epoch: 1, urls: [] };
  assert.deepEqual(decodeUrlMessage(encodeUrlMessage(empty)), empty);
});

test("a message contains spellings, and is invalid if one is no URL", () => {
  const written = "https://site.example/%61?b=%c3%a9";
  const message: UrlMessage = { kind: "urls", epoch: 7, urls: [{ ...SENT, written }, SENT] };
  const read = decodeUrlMessage(encodeUrlMessage(message));
  assert.deepEqual(
    read?.urls.map((url) => url.written),
    [written, undefined],
  );
  for (const bad of ["javascript:1", `https://a.example/${"x".repeat(3000)}`, 7])
    assert.throws(() =>
      encodeUrlMessage({ ...message, urls: [{ ...SENT, written: bad as string }] } as UrlMessage),
    );
});

test("any message within the limits comes back whole", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const message = someMessage(randomFrom(seed));
    assert.deepEqual(decodeUrlMessage(encodeUrlMessage(message)), message, `seed ${seed}`);
  }
});

test("a truncated or damaged message is invalid, and never another message", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomFrom(seed);
    const message = someMessage(random);
    const whole = encodeUrlMessage(message);
    for (let trial = 0; trial < 40; trial++) {
      const at = below(random, whole.length);
      assert.equal(
        decodeUrlMessage(whole.subarray(0, at)),
        undefined,
        `seed ${seed}, cut at ${at}`,
      );
      const bent = Uint8Array.from(whole);
      bent[at] = (bent[at] ?? 0) ^ (1 << below(random, 8));
      const read = decodeUrlMessage(bent);
      if (read !== undefined) assert.deepEqual(read, message, `seed ${seed}, bent at ${at}`);
    }
  }
});

test("random bytes are no message", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = randomFrom(seed);
    const noise = Uint8Array.from({ length: below(random, 300) }, () => below(random, 256));
    noise.set([0x57, 0x4c, 1].slice(0, noise.length));
    assert.equal(decodeUrlMessage(noise), undefined, `seed ${seed}`);
  }
});

test("a message of a broken peer is invalid", () => {
  const good = {
    kind: "urls",
    epoch: 1,
    url: [URL],
    depth: [0],
    redirects: [0],
    links: [1],
    score: [0],
  };
  assert.notEqual(decodeUrlMessage(packed(good)), undefined);
  const wrong: Readonly<Record<string, unknown>> = {
    "not an object": [],
    "nothing at all": null,
    "no kind": { ...good, kind: undefined },
    "a kind from the future": { ...good, kind: "pages" },
    "a kind that every object has": { ...good, kind: "constructor" },
    "an epoch of text": { ...good, epoch: "1" },
    "half an epoch": { ...good, epoch: 0.5 },
    "a column too few": { ...good, links: undefined },
    "a column too short": { ...good, links: [] },
    "a column too long": { ...good, score: [0, 0] },
    "a column that is none": { ...good, url: { length: 1, 0: URL } },
    "a depth below 0": { ...good, depth: [-1] },
    "a depth without a number": { ...good, depth: [null] },
    "redirects without end": { ...good, redirects: [128] },
    "a count beyond counting": { ...good, links: [2 ** 31] },
    "a score of text": { ...good, score: ["9"] },
    "a URL that is a number": { ...good, url: [1] },
    "a URL of another scheme": { ...good, url: ["file:///etc/passwd"] },
    "a URL with a line end": { ...good, url: [`${URL}\n`] },
    "a URL with a blank": { ...good, url: ["https://a.example/ "] },
    "a URL that is not ASCII": { ...good, url: ["https://a.example/é"] },
    "a URL without end": { ...good, url: [`https://a.example/${"a".repeat(2048)}`] },
    "a frontier without states": { ...good, kind: "frontier", attempts: [0] },
    "a frontier with another state": { ...good, kind: "frontier", attempts: [0], state: ["lost"] },
  };
  for (const [name, fields] of Object.entries(wrong))
    assert.equal(decodeUrlMessage(packed(fields)), undefined, name);
  const endless = JSON.stringify(good).replace('"score":[0]', '"score":[1e999]');
  assert.equal(decodeUrlMessage(headed(zstdCompressSync(endless))), undefined);
  const body = packed(good);
  body[2] = 2;
  assert.equal(decodeUrlMessage(body), undefined, "another version");
});

test("a message that would decompress beyond its bound is invalid", () => {
  const bomb = zstdCompressSync(Buffer.alloc(256 * 2 ** 20, " "));
  assert.ok(bomb.length < PARCEL_BYTES_MAX);
  const before = process.memoryUsage().rss;
  assert.equal(decodeUrlMessage(headed(bomb)), undefined);
  assert.ok(process.memoryUsage().rss - before < 64 * 2 ** 20);
  const many = Array.from({ length: URL_MESSAGE_URLS_MAX + 1 }, () => 0);
  const crowd = { url: many.map(() => "http://a"), depth: many, redirects: many, links: many };
  const fields = { kind: "urls", epoch: 1, ...crowd, score: many };
  assert.equal(decodeUrlMessage(packed(fields)), undefined);
  assert.equal(decodeUrlMessage(headed(new Uint8Array(PARCEL_BYTES_MAX))), undefined);
});

test("our own messages keep to the limits", () => {
  const broken = { name: "BrokenPromise" };
  for (const change of [{ score: NaN }, { depth: 0.5 }, { url: "gopher://a" }]) {
    const urls = [{ ...SENT, ...change }];
    assert.throws(() => encodeUrlMessage({ kind: "urls", epoch: 1, urls }), broken);
  }
  assert.throws(() => encodeUrlMessage({ kind: "urls", epoch: -1, urls: [] }), broken);
  const urls = Array.from({ length: URL_MESSAGE_URLS_MAX + 1 }, () => SENT);
  assert.throws(() => encodeUrlMessage({ kind: "urls", epoch: 1, urls }), broken);
});

test("any list of URLs can be cut into messages that fit a parcel", () => {
  assert.deepEqual(cutForMessages([]), []);
  assert.deepEqual(cutForMessages([SENT, SENT]), [[SENT, SENT]]);
  for (let seed = 1; seed <= 3; seed++) {
    const random = randomFrom(seed);
    // As long and as unlike as URLs can be, which packs worst.
    const urls = Array.from({ length: 700 }, () => noisyUrl(random, 2_000));
    const short = Array.from({ length: 12_000 }, () => noisyUrl(random, 10));
    const all = [...urls, ...short, ...urls].map((url) =>
      Object.assign({}, SENT, { url, score: random.next() }),
    );
    const lists = cutForMessages(all);
    assert.deepEqual(lists.flat(), all, `seed ${seed}`);
    assert.ok(lists.length < 11, `seed ${seed}: ${lists.length} messages`);
    for (const urls of lists) {
      const characters = urls.reduce((sum, { url }) => sum + url.length, 0);
      assert.ok(characters <= URL_MESSAGE_CHARACTERS_MAX && urls.length <= URL_MESSAGE_URLS_MAX);
      const message: UrlMessage = { kind: "urls", epoch: 1, urls };
      assert.deepEqual(decodeUrlMessage(encodeUrlMessage(message)), message, `seed ${seed}`);
    }
  }
});

function someMessage(random: Random): UrlMessage {
  const epoch = below(random, 2 ** 31);
  const urls = Array.from({ length: below(random, 60) }, () => someUrl(random));
  if (random.next() < 0.5) return { kind: "urls", epoch, urls };
  const state = (): MovedUrl["state"] => pick(random, ["waiting", "ended"]);
  const moved = urls.map((url) =>
    Object.assign(url, { attempts: below(random, 5), state: state() }),
  );
  return { kind: "frontier", epoch, urls: moved };
}

function someUrl(random: Random): SentUrl {
  return {
    url: noisyUrl(random, below(random, 40)),
    depth: below(random, 1e6),
    redirects: below(random, 128),
    links: below(random, 2 ** 31),
    score: pick(random, [0, 1, -1.5, random.next() * 1e300, random.next() * 1e-300]),
  };
}

/** Every character that a canonical URL can hold, and two that JSON escapes. */
function noisyUrl(random: Random, length: number): string {
  const noise = Array.from({ length }, () => String.fromCharCode(0x21 + below(random, 0x5e)));
  return `http://site-${below(random, 100)}.example/${noise.join("")}`;
}

function packed(fields: unknown): Uint8Array {
  return headed(zstdCompressSync(JSON.stringify(fields)));
}

function headed(packed: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(0x57, 0x4c, 1), packed]);
}
