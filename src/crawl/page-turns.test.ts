import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { PageTurns } from "./page-turns.ts";

test("between any two pages whatever else is ready has its turn", async () => {
  const turns = new PageTurns(systemClock);
  const log: string[] = [];
  const pages = Array.from({ length: 5 }, async (_, page) => {
    await turns.next();
    log.push(`page ${page}`);
    setImmediate(() => log.push(`line after ${page}`));
  });
  await Promise.all(pages);
  await turns.next();
  const order = log.filter((entry) => !entry.endsWith("after 4"));
  assert.deepEqual(
    order.filter((entry) => entry.startsWith("page")),
    ["page 0", "page 1", "page 2", "page 3", "page 4"],
  );
  for (let page = 0; page < 3; page++)
    assert.ok(
      order.indexOf(`line after ${page}`) < order.indexOf(`page ${page + 2}`),
      `the line was served before page ${page + 2}: ${order.join(", ")}`,
    );
});
