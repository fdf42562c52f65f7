/** Each fuzz target for a few seconds with a fixed seed, and all inputs that once broke a promise. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fuzz, readOnce } from "./driver.ts";
import { FOUND } from "./found.ts";
import { TARGETS } from "./targets.ts";

const SEED = 1;

for (const target of TARGETS) {
  after(() => target.close?.());

  test(`${target.name}: no input breaks a promise`, async () => {
    const goesOn = (inputs: number): boolean => inputs < target.inputsPerTest;
    const { failure, kinds } = await fuzz(target, { seed: SEED, goesOn });
    const input = Buffer.from(failure?.input ?? []).toString("base64");
    assert.equal(failure, undefined, `${failure?.message}\nseed ${SEED}, input ${input}`);
    assert.ok(kinds > 4, `only ${kinds} kinds of input`);
  });

  for (const { was, input } of FOUND.filter((found) => found.target === target.name))
    test(`${target.name}: ${was}`, async () => {
      const { problem } = await readOnce(target, input, true);
      assert.equal(problem, undefined);
    });
}

test("a broken promise is found, minimised and repeated by its seed", async () => {
  const target = {
    name: "sample",
    samples: [Buffer.from("<p>hello</p>")],
    words: ["<", "needle", ">"],
    inputBytesMax: 4096,
    inputsPerTest: 0,
    check(input: Uint8Array): string {
      assert.ok(!Buffer.from(input).includes("needle>"), "it has a needle");
      return String(input.length % 16);
    },
  };
  const goesOn = (inputs: number): boolean => inputs < 20_000;
  const first = await fuzz(target, { seed: 7, goesOn });
  assert.equal(Buffer.from(first.failure?.input ?? []).toString(), "needle>");
  const again = await fuzz(target, { seed: 7, goesOn });
  assert.equal(again.failure?.number, first.failure?.number);
});
