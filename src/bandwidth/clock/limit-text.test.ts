import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../../base/random.ts";
import { LIMIT_BPS_LEAST, limitMistake, readLimitBps } from "./limit-text.ts";

test("a limit is a rate from 4 KB/s up", () => {
  assert.equal(readLimitBps("2MB/s"), 2_000_000);
  assert.equal(readLimitBps("1.5 MiB/s"), 1.5 * 2 ** 20);
  assert.equal(readLimitBps("8Mbit/s"), 1_000_000);
  assert.equal(readLimitBps("4KB/s"), LIMIT_BPS_LEAST);
});

test("every common slip is refused with what to write instead", () => {
  for (const [text, told] of [
    ["2", "a rate needs a unit; write 2MB/s or 2Mbit/s"],
    ["500", "a rate needs a unit; write 500MB/s or 500KB/s or 500Mbit/s"],
    ["2MB", "a rate is per second; write 2MB/s"],
    ["2 Mbit", "a rate is per second; write 2Mbit/s"],
    ["2mbps", "is not clear; write 2Mbit/s or 2MB/s"],
    ["2Mbps", "is not clear; write 2Mbit/s or 2MB/s"],
    ["2MBps", "is not clear; write 2MB/s"],
    ["2Mb/s", "is not clear; write 2Mbit/s or 2MB/s"],
    ["500k", "a rate is per second; write 500KB/s or 500kbit/s"],
    ["2M/s", "is not clear; write 2MB/s or 2Mbit/s"],
    ["1,5MB/s", "is not clear; write 1.5MB/s"],
    ["2 MB per second", "is not clear; write 2MB/s"],
    ["2MB/min", "a rate is per second, such as 2MB/s"],
    ["-2MB/s", "a limit is never negative; write 2MB/s"],
    ["-1B/s", "a limit is never negative; write at least 4KB/s"],
    ["0", "a quota of 0 allows no request; write none for no limit, or at least 4KB/s"],
    ["0MB/s", "a quota of 0 allows no request; write none for no limit, or at least 4KB/s"],
    ["1B/s", "is too little: one request a second takes about 4 KB; write at least 4KB/s"],
    ["9000GB/s", "is more than any line carries; write none for no limit"],
    ["unlimited", "write none for no limit"],
    ["fast", "is no rate; write it as 2MB/s, 500KB/s or 8Mbit/s"],
    ["", "is no rate; write it as 2MB/s, 500KB/s or 8Mbit/s"],
  ] as const) {
    assert.equal(readLimitBps(text), undefined, text);
    assert.equal(limitMistake(text), told, text);
  }
});

test("whatever a refusal offers would be taken", () => {
  const signs = ["", "", "-", "+"];
  const units = [
    "",
    "b",
    "B",
    "k",
    "K",
    "KB",
    "Kb",
    "kib",
    "M",
    "mb",
    "MBit",
    "Gbits",
    "TiB",
    "bytes",
  ];
  const ends = ["", "/s", "ps", "/sec", " per second", "/h", "/"];
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = randomFrom(seed);
    const number = pick(random, [String(below(random, 5_000)), `${below(random, 9)},5`, "0.25"]);
    const text = pick(random, signs) + number + pick(random, units) + pick(random, ends);
    if (readLimitBps(text) !== undefined) continue;
    const offers = limitMistake(text).match(/\d[\d.]*[KMGT]?i?(?:B|bit)\/s/gi) ?? [];
    for (const offer of offers)
      assert.notEqual(readLimitBps(offer), undefined, `seed ${seed}: ${text} → ${offer}`);
    const isHelpful = offers.length > 0 || limitMistake(text).includes("none");
    assert.ok(isHelpful, `seed ${seed}: ${text} → ${limitMistake(text)}`);
  }
});
