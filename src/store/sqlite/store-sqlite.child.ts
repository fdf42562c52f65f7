/**
 * A process to be killed: continues the commits of `walkBatch` from the store's state, and reports the
 * number of each completed commit. `store-sqlite-kill.test.ts` runs it with the folder.
 */

import { writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { openStore } from "./store-sqlite.ts";
import { Model, walkBatch } from "../store.suite.ts";

const [, , folder = ""] = process.argv;
const store = openStore(folder, { seenEntriesMax: 200 });
writeSync(1, "open\n");
const model = Model.of(store);
for (let number = (store.marks["commit"] ?? 0) + 1; ; number++) {
  const batch = walkBatch(model, number);
  store.commit(batch);
  model.apply(batch);
  writeSync(1, `${number}\n`);
  // Lets timers and the store's background work run.
  if (number % 8 === 0) await setImmediate();
}
