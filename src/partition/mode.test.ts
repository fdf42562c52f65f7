import assert from "node:assert/strict";
import { test } from "node:test";
import { COORDINATIONS, fateOfForeign, MODES, whyNot } from "./mode.ts";
import { PARTITION_KINDS } from "./partition.ts";

test("each mode treats a link to another process's part differently", () => {
  assert.deepEqual(MODES.map(fateOfForeign), ["drop", "hold", "send"]);
});

test("exactly the contradictory combinations are refused, each with a remedy", () => {
  const reasons: string[] = [];
  for (const coordination of COORDINATIONS)
    for (const mode of [...MODES, undefined])
      for (const partition of [...PARTITION_KINDS, undefined]) {
        const why = whyNot({ coordination, mode, partition, procs: 4 });
        const refused =
          (coordination === "independent" && (mode ?? partition) !== undefined) ||
          (coordination === "dynamic" && (mode === "firewall" || mode === "cross-over"));
        assert.equal(why !== undefined, refused, `${coordination} ${mode} ${partition}: ${why}`);
        if (why !== undefined) reasons.push(why);
        assert.equal(whyNot({ coordination, mode, partition, procs: 1 }), undefined);
      }
  for (const why of reasons) assert.match(why, /: (leave|choose) /);
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
