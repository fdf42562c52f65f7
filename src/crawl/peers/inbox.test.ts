import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { PeerMessage } from "../../exchange/peer-message.ts";
import { stillTrue } from "./inbox.ts";

/** A message of this epoch with URLs that ended or wait; the bucket of a URL is its last character. */
function message(epoch: number, states: Readonly<Record<string, string>>): PeerMessage {
  const urls = Object.entries(states).map(([url, state]) => ({ url, state }));
  return { kind: "frontier", epoch, urls } as unknown as PeerMessage;
}

const bucketOf = (url: string): number => Number(url.at(-1));
const LOSSES = [
  { epoch: 5, buckets: new Set([1]) },
  { epoch: 8, buckets: new Set([2]) },
];

function left(epoch: number, states: Readonly<Record<string, string>>): string[] {
  const rest = stillTrue(message(epoch, states), LOSSES, bucketOf);
  return rest.kind === "frontier" ? rest.urls.map(({ url }) => url) : [];
}

test("outcomes in buckets that were lost after the message do not hold any more", () => {
  const states = { a1: "ended", b1: "waiting", a2: "ended", a3: "ended" };
  deepEqual(left(4, states), ["b1", "a3"]);
  deepEqual(left(5, states), ["a1", "b1", "a3"]);
  deepEqual(left(8, states), ["a1", "b1", "a2", "a3"]);
});

test("messages without outcomes are not changed", () => {
  const links = { kind: "urls", urls: [] } as unknown as PeerMessage;
  equal(stillTrue(links, LOSSES, bucketOf), links);
});
