/**
 * What it costs to tell another process something: messages, and the way between forked processes.
 *
 * Usage: node bench/exchange.ts
 *
 * Letters hold 500 links each from real pages to other sites, from `../shared/data`, as a process would
 * send them. Then parcels and controls go from the supervisor to a forked process, which gives receipts,
 * so many in a turn of the event loop. CPU is that of both processes.
 */

import { fork } from "node:child_process";
import { setImmediate as turn } from "node:timers/promises";
import { ProcessBus, ProcessHub } from "../src/exchange/local/bus-process.ts";
import { childPort, parentPort } from "../src/exchange/local/port.ts";
import { decodeUrlMessage, encodeUrlMessage } from "../src/exchange/url-message.ts";
import type { UrlMessage } from "../src/exchange/url-message.ts";
import { listLinks } from "../src/page/link-list.ts";
import { NEEDS_DATA, hasSharedData, realPages } from "../src/url/shared-data.suite.ts";
import { siteOf } from "../src/url/site.ts";
import { canonicalUrl } from "../src/url/url.ts";

const PAGES = "pages/html-pages-trafilatura.jsonl.xz";
const LETTERS = 40;
const URL_MESSAGE_URLS = 500;
const ROUNDS = 20;
const ITEMS = 5_000;

async function measureLetters(): Promise<void> {
  if (!hasSharedData()) return console.log(`messages: ${NEEDS_DATA}`);
  const messages = await realLetters();
  const urls = messages.length * URL_MESSAGE_URLS;
  const characters = messages
    .flatMap((message) => message.urls)
    .reduce((n, u) => n + u.url.length, 0);
  let bodies = messages.map(encodeUrlMessage);
  const encodeUs = cpuUs(() => (bodies = messages.map(encodeUrlMessage)));
  const decodeUs = cpuUs(() => bodies.map(decodeUrlMessage));
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
  console.log(
    `${messages.length} messages of ${URL_MESSAGE_URLS} URLs, ${one(characters / urls)} characters each`,
  );
  console.log(
    `a URL: ${one(bytes / urls)} bytes, ${two(encodeUs / urls)} µs to write, ${two(decodeUs / urls)} to read`,
  );
}

/** Links of real pages to other sites, each once in a message. */
async function realLetters(): Promise<UrlMessage[]> {
  const messages: UrlMessage[] = [];
  let found = new Set<string>();
  for await (const { url, html } of realPages(PAGES)) {
    const page = canonicalUrl(url);
    if (typeof page !== "string") continue;
    for (const link of listLinks(Buffer.from(html), page))
      if (siteOf(link.url) !== siteOf(page)) found.add(link.url);
    if (found.size < URL_MESSAGE_URLS) continue;
    const urls = [...found].slice(0, URL_MESSAGE_URLS).map((url, index) => {
      const depth = 1 + (index % 7);
      return { url, depth, redirects: 0, links: 1 + ((index * index) % 9), score: -depth };
    });
    found = new Set();
    messages.push({ kind: "urls", epoch: 1, urls });
    if (messages.length === LETTERS) break;
  }
  return messages;
}

function cpuUs(work: () => unknown): number {
  work();
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / ROUNDS;
}

async function measureBus(
  kind: "control" | "parcel",
  bytes: number,
  perTurn: number,
): Promise<void> {
  const hub = new ProcessHub();
  let cpuOfOther = 0;
  let heard = Promise.withResolvers<void>();
  const member = await hub.join("supervisor", {
    onParcel() {},
    onReceipt: () => ++receipts,
    onMessage: (_, control) => {
      cpuOfOther = control["cpuUs"] as number;
      heard.resolve();
    },
  });
  let receipts = 0;
  const child = fork(import.meta.filename, [], { serialization: "advanced" });
  hub.attach("other", childPort(child));
  const ask = async (): Promise<number> => {
    heard = Promise.withResolvers<void>();
    const retry = setInterval(() => member.tell("other", { isAsking: true }), 100);
    member.tell("other", { isAsking: true });
    await heard.promise;
    clearInterval(retry);
    return cpuOfOther;
  };
  const text = "x".repeat(bytes);
  const body = new Uint8Array(bytes).fill(120);
  const put = (index: number): boolean => {
    if (kind === "parcel") return member.send({ id: `supervisor.${index}`, to: "other", body });
    member.tell("other", { text });
    return true;
  };
  await ask();
  const otherBefore = await ask();
  const before = process.cpuUsage();
  const startedAtMs = performance.now();
  for (let index = 0; index < ITEMS;) {
    for (let count = 0; count < perTurn && index < ITEMS && put(index); count++) index++;
    await turn();
  }
  const isDone = (): boolean => kind === "control" || receipts === ITEMS;
  while (!isDone()) await turn();
  const seconds = (performance.now() - startedAtMs) / 1000;
  const { user, system } = process.cpuUsage(before);
  const otherUs = (await ask()) - otherBefore;
  child.disconnect();
  const rate = kind === "parcel" ? `, ${Math.round(ITEMS / seconds)} a second` : "";
  const [here, there] = [one((user + system) / ITEMS), one(otherUs / ITEMS)];
  console.log(
    `${kind} of ${bytes} bytes, ${perTurn} a turn: ${here} µs of CPU here, ${there} there${rate}`,
  );
}

/** The forked process: gives receipts, and says what CPU it has used when it is asked. */
async function beOther(): Promise<void> {
  const bus = new ProcessBus(parentPort());
  const member = await bus.join("other", {
    onParcel: (parcel) => member.acknowledge(parcel),
    onReceipt() {},
    onMessage: (from, control) => {
      const { user, system } = process.cpuUsage();
      if (control["isAsking"] === true) member.tell(from, { cpuUs: user + system });
    },
  });
}

function one(value: number): string {
  return value.toFixed(1);
}

function two(value: number): string {
  return value.toFixed(2);
}

if (process.send === undefined) {
  await measureLetters();
  for (const perTurn of [1, 10, 100]) await measureBus("control", 200, perTurn);
  for (const perTurn of [1, 10]) await measureBus("parcel", 10_000, perTurn);
  for (const perTurn of [1, 10]) await measureBus("parcel", 100_000, perTurn);
} else await beOther();
