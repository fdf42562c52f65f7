import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openServerFile } from "../../src/store/sqlite/server-file.ts";
import { run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

test("status --servers shows what is known of servers, from the folder's file or a shared one", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const local = ["--allow-private", "127.0.0.0/8"];
  const crawl = await run(["crawl", site.origin, "--out", out, ...local]);
  assert.equal(crawl.code, 0, crawl.stderr);

  const shared = join(folder.path, "speeds.db");
  {
    await using file = openServerFile(shared, { serversMax: 10 });
    const row = {
      address: "192.0.2.7",
      sites: ["https://example.org"],
      lastAtMs: Date.UTC(2026, 0, 1),
      workingCount: 3,
      holidayCount: 2,
      workingHours: 0xffffff,
      holidayHours: 0xffffff,
      bps: new Float32Array(48).fill(250_000),
      scatter: undefined,
    };
    assert.equal(await file.save([row]), true);
  }
  const table = await run(["status", out, "--servers", "--speeds", shared]);
  assert.equal(table.code, 0, table.stderr);
  assert.match(table.stdout, /^1 server; it is \d\d:\d\d on a /);
  assert.match(table.stdout, /192\.0\.2\.7 +5 .* 250 KB\/s .*example\.org/);

  const zone = ["--time-zone", "Europe/Rome", "--holidays", "IT"];
  const json = await run(["status", out, "--servers", "--json", "--speeds", shared, ...zone]);
  const told = JSON.parse(json.stdout) as { count: number; servers: { nowBps: number }[] };
  assert.equal(told.count, 1);
  assert.equal(told.servers[0]?.nowBps, 250_000);

  const own = await run(["status", out, "--servers", "--json"]);
  assert.equal(own.code, 0, own.stderr);

  const notes = join(folder.path, "notes.txt");
  writeFileSync(notes, "speeds? what speeds?");
  const foreign = await run(["status", out, "--servers", "--speeds", notes]);
  assert.equal(foreign.code, 1);
  assert.match(foreign.stderr, /notes\.txt is not a file of server speeds.*\n.*SPEEDS_UNREADABLE/);
});
