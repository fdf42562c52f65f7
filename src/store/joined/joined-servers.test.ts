import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openServerFile, SERVERS_FILE, type StoredServer } from "../sqlite/server-file.ts";
import { writeTeam } from "../team-file.ts";
import { serversOf } from "./joined-servers.ts";

test("a server that two processes measured has the later measurement and the sites of both", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-servers-"));
  const names = ["proc-1", "proc-2"];
  const words = { coordination: "static", mode: "exchange", partition: "site-hash" };
  writeTeam(folder, { version: 1, procs: 2, names, buckets: 2, ...words });
  await save(join(folder, "proc-1"), server("10.0.0.1", ["http://a.test"], 2_000));
  await save(
    join(folder, "proc-2"),
    server("10.0.0.1", ["http://b.test", "http://a.test"], 1_000),
    server("10.0.0.2", ["http://c.test"], 3_000),
  );
  const told = [...serversOf(folder, undefined)];
  assert.deepEqual(
    told.map(({ address, sites, lastAtMs }) => [address, sites, lastAtMs]),
    [
      ["10.0.0.1", ["http://a.test", "http://b.test"], 2_000],
      ["10.0.0.2", ["http://c.test"], 3_000],
    ],
  );
  rmSync(folder, { recursive: true });
});

async function save(folder: string, ...servers: readonly StoredServer[]): Promise<void> {
  mkdirSync(folder);
  await using file = openServerFile(join(folder, SERVERS_FILE), { serversMax: 100 });
  await file.save(servers);
}

function server(address: string, sites: readonly string[], lastAtMs: number): StoredServer {
  const hours = { workingHours: 1, holidayHours: 0, bps: new Float32Array(48).fill(1_000) };
  return {
    address,
    sites,
    lastAtMs,
    ...hours,
    workingCount: 1,
    holidayCount: 0,
    scatter: undefined,
  };
}
