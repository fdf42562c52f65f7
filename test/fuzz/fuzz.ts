/**
 * Fuzzes for as long as asked: `npm run fuzz -- [--minutes N] [--seed N] [--inputs N] [target …]`.
 *
 * The time is divided equally among the targets. The seed is printed; a failure is printed with its minimised input in
 * base64, ready for `found.ts`.
 */

import { parseArgs } from "node:util";
import { fuzz } from "./driver.ts";
import { TARGETS } from "./targets.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    inputs: { type: "string", default: "Infinity" },
  },
});
const chosen = TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const unknown = positionals.filter((name) => !TARGETS.some((target) => target.name === name));
const seed = Number(values.seed);
const msEach = (60_000 * Number(values.minutes)) / chosen.length;
if (unknown.length > 0 || !(msEach > 0) || !Number.isSafeInteger(seed)) {
  console.error(`targets: ${TARGETS.map(({ name }) => name).join(", ")}; minutes above 0; a seed`);
  process.exit(2);
}
for (const target of chosen) {
  const endMs = performance.now() + msEach;
  const inputsMax = Number(values.inputs);
  const goesOn = (inputs: number): boolean => inputs < inputsMax && performance.now() < endMs;
  const { inputs, kinds, slowestMs, failure } = await fuzz(target, { seed, goesOn });
  await target.close?.();
  const facts = `${inputs} inputs, ${kinds} kinds, slowest ${Math.round(slowestMs)} ms`;
  console.log(
    `${failure === undefined ? "ok    " : "FAILED"} ${target.name}: seed ${seed}, ${facts}`,
  );
  if (failure === undefined) continue;
  process.exitCode = 1;
  const base64 = Buffer.from(failure.input).toString("base64");
  console.log(`input ${failure.number}, ${failure.input.length} bytes: ${base64}`);
  console.log(failure.message);
}
