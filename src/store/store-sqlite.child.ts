/**
 * A process to be killed: commits the walk of `walkBatch` from wherever the store stands, and says the
 * number of each commit once it is done. Run by `store-sqlite-kill.test.ts` with the folder.
 */

import { writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { openStore } from "./store-sqlite.ts";
import { Model, walkBatch } from "./store.suite.ts";

const [, , folder = ""] = process.argv;
const store = openStore(folder, { seenEntriesMax: 200 });
writeSync(1, "open\n");
const model = Model.of(store);
for (let number = (store.marks["commit"] ?? 0) + 1; ; number++) {
  const batch = walkBatch(model, number);
  store.commit(batch);
  model.apply(batch);
  writeSync(1, `${number}\n`);
  // So that timers and the store's own background work have their turn.
  if (number % 8 === 0) await setImmediate();
}
