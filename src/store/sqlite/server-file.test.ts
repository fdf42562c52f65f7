import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { crc32 } from "node:zlib";
import { CrawlError } from "../../base/errors.ts";
import { below, type Random, randomFrom } from "../../base/random.ts";
import { openServerFile, readServerFile, type StoredServer } from "./server-file.ts";

const LIMITS = { serversMax: 10_000 };
const DAY_MS = 86_400_000;

test("saved servers are read by the next crawl and by a concurrent reader", async (t) => {
  const path = join(emptyFolder(t), "servers.db");
  assert.deepEqual([...readServerFile(path)], []);
  const servers = Array.from({ length: 1_234 }, (_, index) => serverFrom(randomFrom(index), index));
  const byAddress = servers.toSorted((a, b) => (a.address < b.address ? -1 : 1));
  {
    await using file = openServerFile(path, LIMITS);
    assert.deepEqual([...file.rows()], []);
    assert.equal(await file.save(servers), true);
    assert.deepEqual([...readServerFile(path)], byAddress, "while it is open");
  }
  assert.deepEqual([...readServerFile(path)], byAddress, "after it is closed");
  assert.deepEqual(readdirSync(join(path, "..")), ["servers.db"], "no other files are left");
  await using again = openServerFile(path, LIMITS);
  assert.deepEqual([...again.rows()], byAddress);
});

test("when two crawls share the file, the latest measurement of each server stays", async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = randomFrom(seed);
    const path = join(emptyFolder(t), "servers.db");
    await using one = openServerFile(path, LIMITS);
    await using other = openServerFile(path, LIMITS);
    const latest = new Map<string, StoredServer>();
    for (let save = 0; save < 20; save++) {
      const saves = [one, other].map((file) => {
        const rows = Array.from({ length: 1 + below(random, 40) }, () =>
          serverFrom(random, below(random, 60)),
        );
        for (const row of rows)
          if ((latest.get(row.address)?.lastAtMs ?? -1) < row.lastAtMs)
            latest.set(row.address, row);
        return file.save(rows);
      });
      assert.deepEqual(await Promise.all(saves), [true, true]);
    }
    for (const row of one.rows())
      assert.deepEqual(row, latest.get(row.address), `seed ${seed}: ${row.address}`);
    assert.equal([...other.rows()].length, latest.size);
  }
});

test("foreign, newer, truncated and damaged files are refused and not changed", async (t) => {
  const folder = emptyFolder(t);
  const good = join(folder, "good.db");
  {
    await using file = openServerFile(good, LIMITS);
    const rows = Array.from({ length: 200 }, (_, index) => serverFrom(randomFrom(index), index));
    assert.equal(await file.save(rows), true);
  }
  const text = join(folder, "notes.txt");
  writeFileSync(text, "Not a database, and longer than any header would be.\n".repeat(40));
  const foreign = join(folder, "foreign.db");
  edit(foreign, "CREATE TABLE song(title TEXT)");
  const newer = copyOf(good, "newer.db", () => undefined);
  edit(newer, "PRAGMA user_version = 4");
  const short = copyOf(good, "short.db", () => undefined);
  truncateSync(short, 3 * 4096);
  const flipped = copyOf(good, "flipped.db", (bytes) => {
    // In the speeds of a server, which SQLite does not verify.
    const lastAt = Buffer.from(Float64Array.of(serverFrom(randomFrom(77), 77).lastAtMs).buffer);
    const at = bytes.indexOf(lastAt) + 60;
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  });
  const torn = copyOf(good, "torn.db", (bytes) => bytes.fill(0xa5, 5 * 4096, 6 * 4096));
  for (const [path, why] of [
    [text, /notes\.txt is not a file of server speeds/],
    [foreign, /foreign\.db is not a file of server speeds/],
    [newer, /newer\.db was written by a newer Weir: version 4, this one reads up to 3/],
    [short, /short\.db is truncated: 12288 of \d+ bytes/],
    [flipped, /flipped\.db has a damaged record/],
    [torn, /torn\.db/],
  ] as const) {
    const before = readFileSync(path);
    assert.throws(() => [...readServerFile(path)], isUnreadable(why), path);
    await assert.rejects(async () => {
      await using file = openServerFile(path, LIMITS);
      for (const row of file.rows()) assert.ok(row.address !== "");
    }, isUnreadable(why));
    assert.deepEqual(readFileSync(path), before, `${path} is as it was`);
  }
});

test("records of earlier versions without measured hours are ignored, and replaced by new ones", async (t) => {
  const path = join(emptyFolder(t), "servers.db");
  const before = Array.from({ length: 3 }, (_, index) => serverFrom(randomFrom(index), index));
  {
    await using file = openServerFile(path, LIMITS);
    assert.equal(await file.save(before), true);
  }
  const later = { ...(before[1] as StoredServer), lastAtMs: 3e12 };
  for (const version of [1, 2] as const) {
    makeEarlier(path, version);
    assert.deepEqual([...readServerFile(path)], []);
    await using file = openServerFile(path, LIMITS);
    assert.deepEqual([...file.rows()], []);
    assert.equal(await file.save([later]), true);
    assert.deepEqual([...readServerFile(path)], [later]);
  }
});

/** Version 1 ends after the speeds, version 2 after the mean scatter. */
function makeEarlier(path: string, version: 1 | 2): void {
  const factBytes = version === 1 ? 216 : 220;
  const database = new DatabaseSync(path);
  const write = database.prepare("UPDATE server SET record = ? WHERE address = ?");
  for (const { address, record } of database.prepare("SELECT address, record FROM server").all()) {
    const old = Buffer.concat([(record as Uint8Array).subarray(0, factBytes), Buffer.alloc(4)]);
    old.writeUInt32BE(crc32(old.subarray(0, factBytes)), factBytes);
    write.run(old, String(address));
  }
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}

test("an empty file is filled, and a missing folder is reported", async (t) => {
  const folder = emptyFolder(t);
  const empty = join(folder, "empty.db");
  writeFileSync(empty, "");
  assert.deepEqual([...readServerFile(empty)], []);
  await using file = openServerFile(empty, LIMITS);
  assert.equal(await file.save([serverFrom(randomFrom(1), 1)]), true);
  const nowhere = join(folder, "nowhere", "servers.db");
  assert.throws(() => openServerFile(nowhere, LIMITS), isUnreadable(/nowhere/));
});

test("a locked file fails one save, and accepts the next", async (t) => {
  const path = join(emptyFolder(t), "servers.db");
  await using file = openServerFile(path, LIMITS);
  const rows = [serverFrom(randomFrom(1), 1)];
  const holder = new DatabaseSync(path);
  holder.exec("BEGIN IMMEDIATE");
  assert.equal(await file.save(rows), false);
  holder.close();
  assert.equal(await file.save(rows), true);
  assert.deepEqual([...file.rows()], rows);
});

test("a full disk fails one save, and accepts the next", async (t) => {
  const folder = smallDisk(t, "2m");
  if (folder === undefined) return t.skip("needs the right to mount a tmpfs");
  const path = join(folder, "servers.db");
  const filler = join(folder, "filler");
  await using file = openServerFile(path, LIMITS);
  const first = [serverFrom(randomFrom(0), 0)];
  assert.equal(await file.save(first), true);
  writeFileSync(filler, Buffer.alloc(1.7 * 2 ** 20));
  const many = Array.from({ length: 2_000 }, (_, index) => serverFrom(randomFrom(index), index));
  assert.equal(await file.save(many), false);
  assert.ok([...file.rows()].length < 2_000);
  rmSync(filler);
  assert.equal(await file.save(many), true);
  assert.equal([...file.rows()].length, 2_000);
  return undefined;
});

test("the file keeps servers measured recently or often, and at most 10 % above its limit", async (t) => {
  const path = join(emptyFolder(t), "servers.db");
  await using file = openServerFile(path, { serversMax: 100 });
  const often = named("often", 0, 20);
  const once = named("once", 0, 1);
  assert.equal(await file.save([often, once]), true);
  for (let day = 1; day <= 5; day++)
    for (let part = 0; part < 5; part++) {
      const rows = Array.from({ length: 20 }, (_, index) =>
        named(`${day} ${part} ${index}`, day * DAY_MS, 1),
      );
      assert.equal(await file.save(rows), true);
      assert.ok([...file.rows()].length <= 110);
    }
  const kept = new Set([...file.rows()].map((row) => row.address));
  assert.ok(kept.has("often") && !kept.has("once"));
});

function named(address: string, lastAtMs: number, workingCount: number): StoredServer {
  const server = serverFrom(randomFrom(1), 1);
  return { ...server, address, lastAtMs, workingCount, holidayCount: 0 };
}

function serverFrom(random: Random, index: number): StoredServer {
  return {
    address: `10.0.${index >> 8}.${index & 255}`,
    sites: Array.from({ length: below(random, 4) }, (_, site) => `https://s${site}.example`),
    lastAtMs: Math.floor(random.next() * 2e12),
    workingCount: below(random, 100),
    holidayCount: 1 + below(random, 100),
    bps: Float32Array.from({ length: 48 }, () => 10 ** (random.next() * 8)),
    workingHours: below(random, 2 ** 24),
    holidayHours: below(random, 2 ** 24),
    scatter:
      index % 3 === 0
        ? undefined
        : { mean: Math.fround(random.next()), most: Math.fround(1 + random.next()) },
  };
}

function isUnreadable(why: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof CrawlError, String(error));
    assert.equal(error.code, "SPEEDS_UNREADABLE");
    assert.match(error.message, why);
    return true;
  };
}

function copyOf(path: string, name: string, change: (bytes: Buffer) => void): string {
  const bytes = readFileSync(path);
  change(bytes);
  const copy = join(path, "..", name);
  writeFileSync(copy, bytes);
  return copy;
}

function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-servers-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder on its own file system; undefined without the right to mount one. */
function smallDisk(t: TestContext, size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "weir-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "none", folder], {
      stdio: "ignore",
    });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  t.after(() => {
    execFileSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}
