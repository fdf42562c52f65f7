import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { type LineCounters, lineCounters } from "./line-counters.ts";
import { PacketOverhead } from "./packet-overhead.ts";

const FULL = 66 / 1448;

test("without counters packets are taken for full ones", () => {
  const overhead = new PacketOverhead(() => []);
  assert.equal(overhead.shareNow(0), FULL);
  assert.equal(overhead.shareNow(60_000), FULL);
});

test("a megabyte in packets of 600 bytes teaches their share", () => {
  const line = new CountedLine();
  const overhead = new PacketOverhead(line.read);
  overhead.shareNow(0);
  line.carry(20_000, 600);
  near(overhead.shareNow(1_000), 66 / 600, 0.001);
});

test("the line is looked at four times a second at most", () => {
  const line = new CountedLine();
  const overhead = new PacketOverhead(line.read);
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) overhead.shareNow(nowMs);
  assert.equal(line.looks, 40);
});

test("stray packets in a silence teach nothing, and nothing is above a half", () => {
  const line = new CountedLine();
  const overhead = new PacketOverhead(line.read);
  overhead.shareNow(0);
  line.carry(1_000, 1448);
  const before = overhead.shareNow(1_000);
  for (let second = 2; second < 100; second++) {
    line.carry(2, 10);
    near(overhead.shareNow(second * 1_000), before, 0.02);
  }
  line.carry(100_000, 20);
  assert.equal(overhead.shareNow(100_000), 0.5);
});

test("counters that are set anew or of another line are not taken for traffic", () => {
  const line = new CountedLine();
  const overhead = new PacketOverhead(line.read);
  line.carry(10_000, 100);
  overhead.shareNow(0);
  line.setAnew();
  near(overhead.shareNow(1_000), FULL, 1e-9);
  line.name = "other0";
  line.carry(10_000, 100);
  near(overhead.shareNow(2_000), FULL, 1e-9);
});

test("of any traffic the share is known to one percent of the line", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const line = new CountedLine();
    const overhead = new PacketOverhead(line.read);
    overhead.shareNow(0);
    const segmentBytes = 200 + below(random, 1_248);
    for (let second = 1; second <= 30; second++) {
      line.carry(200 + below(random, 2_000), segmentBytes);
      overhead.shareNow(second * 1_000);
    }
    near(overhead.shareNow(31_000), 66 / segmentBytes, 0.01 * (1 + 66 / segmentBytes), `${seed}`);
  }
});

test("packets that came twice count beside what is in them", () => {
  const line = new CountedLine();
  let repeated = 1_000_000;
  const overhead = new PacketOverhead(line.read, () => repeated);
  overhead.shareNow(0);
  line.carry(20_000, 600);
  repeated += 400;
  // A fiftieth of the payload was no news: 66 bytes and 12 for each 588.
  near(overhead.shareNow(1_000), 78 / 588, 0.001);
  repeated += 1_000_000;
  line.carry(20_000, 600);
  near(overhead.shareNow(2_000), (66 + 60) / 540, 0.001, "others' trouble is believed to a tenth");
});

test("packets of another kind are expected at once, and what was seen of the others is forgotten", () => {
  const line = new CountedLine();
  const overhead = new PacketOverhead(line.read);
  overhead.shareNow(0);
  line.carry(20_000, 600);
  near(overhead.shareNow(1_000), 0.11, 0.001);
  overhead.expect(0.16);
  near(overhead.shareNow(1_500), 0.16, 1e-9);
  line.carry(200, 600);
  near(overhead.shareNow(2_000), 0.115, 0.01);
  overhead.expect(0.16);
  near(overhead.shareNow(2_500), 0.115, 0.01, "the same again is nothing new");
});

test("connections being made on an idle line tell nothing of pages, on a busy one they do", () => {
  const line = new CountedLine();
  const overhead = new PacketOverhead(line.read);
  overhead.shareNow(0, 100_000);
  line.carry(200, 60);
  near(overhead.shareNow(1_000, 100_000), FULL, 1e-9);
  line.carry(1_000, 60);
  assert.equal(overhead.shareNow(2_000, 100_000), 0.5);
});

test("what came beside the payload beyond what was believed is told once, and of a shared line our part", () => {
  const line = new CountedLine();
  const overhead = new PacketOverhead(line.read);
  const believed = overhead.shareNow(0, 100_000);
  // A hundred connections end: no payload, and a twentieth of what the line may carry.
  line.carry(100, 0);
  line.carry(10, 1448);
  overhead.shareNow(250, 100_000);
  near(overhead.takeBeyond(14_480), 110 * 66 - believed * 14_480, 1e-6);
  assert.equal(overhead.takeBeyond(0), 0);
  line.carry(100, 600);
  const before = overhead.shareNow(250, 100_000);
  overhead.shareNow(500, 100_000);
  near(overhead.takeBeyond(15_000), (100 * 66 - before * 60_000) / 4, 1e-6);
});

test("what came over loopback is counted by the sockets, whatever address was used", () => {
  const loopbackTraffic = { bytes: 0, segments: 0 };
  const read = lineCounters({ localAddresses: () => ["127.0.0.1", "127.9.9.9"], loopbackTraffic });
  const overhead = new PacketOverhead(read);
  overhead.shareNow(0);
  loopbackTraffic.bytes += 20_000_000;
  loopbackTraffic.segments += 10_000;
  near(overhead.shareNow(1_000), 66 / 2_000, 0.001);
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((place) => place?.internal === false)?.address;
const skip =
  existsSync("/sys/class/net") && outside !== undefined ? false : "needs Linux and an interface";

test("the interface of our own address is read, and one nobody has is not", { skip }, () => {
  const loopbackTraffic = { bytes: 0, segments: 0 };
  const [line] = lineCounters({ localAddresses: () => [outside ?? ""], loopbackTraffic })();
  assert.ok(line !== undefined && line.packets >= 0 && line.bytes >= 0);
  const none = lineCounters({ localAddresses: () => ["203.0.113.77"], loopbackTraffic });
  assert.deepEqual(none(), []);
});

/** An interface whose counters the test sets. */
class CountedLine {
  name = "eth0";
  looks = 0;
  #bytes = 5_000_000;
  #packets = 4_000;

  readonly read = (): LineCounters[] => {
    this.looks += 1;
    const counted = { bytes: this.#bytes, packets: this.#packets, headerBytes: 66 };
    return [{ line: this.name, ...counted, isPrompt: true }];
  };

  carry(packets: number, segmentBytes: number): void {
    this.#packets += packets;
    this.#bytes += packets * (segmentBytes + 66);
  }

  setAnew(): void {
    this.#bytes = 0;
    this.#packets = 0;
  }
}

function near(actual: number, expected: number, by: number, what = ""): void {
  assert.ok(Math.abs(actual - expected) <= by, `${what} ${actual} is not ${expected}`);
}
