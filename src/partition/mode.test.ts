import assert from "node:assert/strict";
import { test } from "node:test";
import { COORDINATIONS, fateOfForeign, MODES, whyNot } from "./mode.ts";
import { PARTITION_KINDS } from "./partition.ts";

test("each mode has its own way with a link to another's part", () => {
  assert.deepEqual(MODES.map(fateOfForeign), ["drop", "hold", "send"]);
});

test("of all combinations exactly the contradictory ones are refused, with a way out", () => {
  const said: string[] = [];
  for (const coordination of COORDINATIONS)
    for (const mode of [...MODES, undefined])
      for (const partition of [...PARTITION_KINDS, undefined]) {
        const why = whyNot({ coordination, mode, partition, procs: 4 });
        const refused =
          (coordination === "independent" && (mode ?? partition) !== undefined) ||
          (coordination === "dynamic" && (mode === "firewall" || mode === "cross-over"));
        assert.equal(why !== undefined, refused, `${coordination} ${mode} ${partition}: ${why}`);
        if (why !== undefined) said.push(why);
        assert.equal(whyNot({ coordination, mode, partition, procs: 1 }), undefined);
      }
  for (const why of said) assert.match(why, /: (leave|choose) /);
});

test("rules and the partition that follows them need each other", () => {
  const some = { coordination: "static", mode: undefined, procs: 2 } as const;
  const because = (partition: "hierarchical" | "site-hash" | undefined, ruleCount: number) =>
    whyNot({ ...some, partition, ruleCount });
  assert.match(because("hierarchical", 0) ?? "", /needs rules/);
  assert.match(because(undefined, 1) ?? "", /site-hash/);
  assert.equal(because("hierarchical", 1), undefined);
  assert.equal(because("site-hash", 0), undefined);
});
