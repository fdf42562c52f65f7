import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { crc32 } from "node:zlib";
import { CrawlError } from "../../base/errors.ts";
import type { ErrorCode } from "../../base/errors.ts";
import { below, randomFrom } from "../../base/random.ts";
import { eraseStore } from "../folder.ts";
import { APPLICATION_ID, migrate, SCHEMA_VERSION, URLS_BEHIND_SEEDS } from "./migrations.ts";
import { openStore } from "./store-sqlite.ts";
import { openReadOnly } from "../joined/open-read-only.ts";
import { NO_TOTALS } from "../store.ts";
import type { PageTopic } from "../store.ts";
import {
  Model,
  compare,
  compareKept,
  compareQueue,
  emptyBatch,
  fingerprintsOf,
  isError,
  makeSite,
} from "../store.suite.ts";
import { makeTopic, makeUrl, walkBatch, walked } from "../store.suite.ts";

/** Reverts the newest migration steps, to get the store of an older Weir. */
const NEWEST_DROPPED = `DROP INDEX ${URLS_BEHIND_SEEDS}; ALTER TABLE url DROP COLUMN written;
  ALTER TABLE site DROP COLUMN rate;`;

test("a folder with foreign files is refused and not touched", (t) => {
  const folder = emptyFolder(t);
  writeFileSync(join(folder, "thesis.tex"), "years of work");
  for (const open of [openStore, openReadOnly, eraseStore])
    assert.throws(() => open(folder), isError("FOLDER_FOREIGN"));
  assert.deepEqual(readdirSync(folder), ["thesis.tex"]);
  writeFileSync(join(folder, "weir.json"), '{"river": "Wye"}');
  assert.throws(() => openStore(folder), isError("FOLDER_FOREIGN"));
  assert.deepEqual(readdirSync(folder).sort(), ["thesis.tex", "weir.json"]);
});

test("a path that cannot be a folder is refused, and a missing crawl cannot be read", (t) => {
  const folder = emptyFolder(t);
  const file = join(folder, "file");
  writeFileSync(file, "");
  assert.throws(() => openStore(file), isError("FOLDER_UNWRITABLE"));
  assert.throws(() => openStore(join(file, "below")), isError("FOLDER_UNWRITABLE"));
  assert.throws(() => openReadOnly(join(folder, "nowhere")), isError("FOLDER_MISSING"));
  assert.equal(existsSync(join(folder, "nowhere")), false);
});

test("an incomplete store is created again", async (t) => {
  const halfDone: ((folder: string) => void)[] = [
    (folder) => writeFileSync(join(folder, "weir.json"), ""),
    (folder) => writeFileSync(join(folder, "weir.json"), '{"weir":"crawl","stage":"new"}'),
    (folder) => {
      writeFileSync(join(folder, "weir.json"), '{"weir":"crawl","stage":"new"}');
      mkdirSync(join(folder, "state"));
      writeFileSync(join(folder, "state", "crawl.db"), "half a header");
    },
  ];
  for (const leave of halfDone) {
    const folder = emptyFolder(t);
    leave(folder);
    const store = openStore(folder);
    assert.equal(store.nextUrlId, 1);
    await store.close();
  }
});

test("a store of a newer version is refused with its version, and not touched", async (t) => {
  const { folder, database } = await walkedFolder(t, 5);
  const file = readFileSync(database);
  file.writeUInt32BE(SCHEMA_VERSION + 3, 60);
  writeFileSync(database, file);
  for (const open of [openStore, openReadOnly])
    assert.throws(
      () => open(folder),
      (error) =>
        isError("STORE_NEWER")(error) && String(error).includes(`version ${SCHEMA_VERSION + 3}`),
    );
  assert.deepEqual(readFileSync(database), file);
  assert.deepEqual(readdirSync(join(folder, "state")).sort(), ["crawl.db", "lock.db"]);
});

test("an older store is migrated to the newest version, all steps or none", (t) => {
  const path = join(emptyFolder(t), "old.db");
  const steps = [
    "CREATE TABLE a(x); INSERT INTO a VALUES (1)",
    "ALTER TABLE a ADD COLUMN y DEFAULT 2",
    "UPDATE a SET x = x + 10",
  ];
  const database = new DatabaseSync(path);
  const look = (): unknown => ({ ...database.prepare("SELECT * FROM a").get() });
  const version = (): unknown => database.prepare("PRAGMA user_version").get()?.["user_version"];
  migrate(database, steps.slice(0, 1));
  assert.deepEqual([version(), look()], [1, { x: 1 }]);
  assert.throws(() => migrate(database, [...steps, "nonsense"]));
  assert.deepEqual([version(), look()], [1, { x: 1 }]);
  migrate(database, steps);
  assert.deepEqual([version(), look()], [3, { x: 11, y: 2 }]);
  migrate(database, steps);
  assert.deepEqual([version(), look()], [3, { x: 11, y: 2 }]);
  database.close();
});

test("after migration of a store without ledgers, all bytes are booked for pages", async (t) => {
  const folder = emptyFolder(t);
  const store = openStore(folder);
  const site = makeSite(1, { bytes: 500 });
  store.commit({ ...emptyBatch(), sites: [site], totals: { ...NO_TOTALS, bytes: 700 } });
  await store.close();
  const database = new DatabaseSync(join(folder, "state", "crawl.db"));
  const { ledger: _, ...totals } = { ...NO_TOTALS, bytes: 700 };
  const text = JSON.stringify(totals);
  database.exec(`ALTER TABLE site DROP COLUMN ledger; ALTER TABLE site DROP COLUMN round;
    DROP TABLE visit; DROP TABLE outbox; DROP TABLE page_topic; ${NEWEST_DROPPED}
    PRAGMA user_version = 1`);
  database.prepare("UPDATE site SET sum = ?").run(crc32(`${site.key}\n${site.traps}`) | 0);
  database
    .prepare("UPDATE meta SET value = ?, sum = ? WHERE key = 'totals'")
    .run(text, crc32(text) | 0);
  database.close();
  for (const open of [openReadOnly, openStore, openReadOnly]) {
    const old = open(folder);
    assert.deepEqual([...old.sites()], [{ ...site, ledger: { page: 500 } }]);
    assert.deepEqual(old.totals.ledger, { page: 700 });
    await old.close();
  }
});

test("a store file that is missing, empty, truncated, zeroed or foreign is reported as damaged", async (t) => {
  const { folder, database } = await walkedFolder(t, 40);
  const whole = readFileSync(database);
  const damages: Readonly<Record<string, () => void>> = {
    missing: () => rmSync(database),
    empty: () => writeFileSync(database, ""),
    cut: () => truncateSync(database, whole.length - 4096),
    zeroed: () => writeFileSync(database, Buffer.alloc(whole.length)),
    foreign: () => writeFileSync(database, "PK\u0003\u0004".repeat(5000)),
  };
  for (const [name, damage] of Object.entries(damages)) {
    writeFileSync(database, whole);
    damage();
    for (const open of [openStore, openReadOnly])
      assert.throws(
        () => open(folder),
        (error) => isError("STORE_CORRUPT")(error) && String(error).includes("crawl.db"),
        name,
      );
  }
  writeFileSync(database, whole);
  const store = openStore(folder);
  compareKept(store, walked(40), "whole again");
  await store.close();
  writeFileSync(join(folder, "weir.json"), "\0\0\0");
  assert.throws(() => openStore(folder), isError("STORE_CORRUPT"));
  eraseStore(folder);
  const fresh = openStore(folder);
  assert.equal(fresh.nextUrlId, 1);
  await fresh.close();
});

test("after any flipped bit, texts and digests are correct, or the damage is reported", async (t) => {
  const { folder, database } = await walkedFolder(t, 40);
  const whole = readFileSync(database);
  const model = walked(40);
  const texts = textsOf(model.urls, model.pages.values(), model.topics.values());
  const random = randomFrom(5);
  let reported = 0;
  for (let attempt = 0; attempt < 150; attempt++) {
    const bit = below(random, whole.length * 8);
    const damaged = Buffer.from(whole);
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(database, damaged);
    try {
      const store = openReadOnly(folder);
      try {
        const found = textsOf(store.urls(), store.pages(), store.pageTopics());
        for (const text of found) assert.ok(texts.has(text), `bit ${bit}: ${text}`);
      } finally {
        await store.close();
      }
    } catch (error) {
      if (!isError("STORE_CORRUPT")(error)) throw error;
      reported++;
    }
  }
  assert.ok(reported > 50, `only ${reported} of 150 were reported`);
});

test("a parcel with changed bytes on disk is reported as damaged, and never returned", async (t) => {
  const folder = emptyFolder(t);
  const store = openStore(folder);
  const bodies = [1, 2, 3].map((seq) => ({ seq, to: "b", body: new Uint8Array(50).fill(seq) }));
  store.commit({ ...emptyBatch(), outgoing: bodies });
  await store.close();
  const database = new DatabaseSync(join(folder, "state", "crawl.db"));
  database.exec("UPDATE outbox SET body = zeroblob(50) WHERE seq = 2");
  database.close();
  const again = openStore(folder);
  assert.deepEqual(again.outbox(2, 9), bodies.slice(2));
  assert.throws(() => again.outbox(0, 9), isError("STORE_CORRUPT"));
  await again.close();
});

test("migration of a store without an outbox adds an empty one", async (t) => {
  const { folder, database: path } = await walkedFolder(t, 20);
  const database = new DatabaseSync(path);
  database.exec(`DROP TABLE outbox; DELETE FROM meta WHERE key = 'next parcel';
    DROP TABLE page_topic; ${NEWEST_DROPPED} PRAGMA user_version = 3`);
  database.close();
  const model = walkedWithoutTopics(20);
  const reader = openReadOnly(folder);
  compare(reader, model, "reading");
  await reader.close();
  const store = openStore(folder);
  compare(store, model, "migrated");
  compareQueue(store, model, "migrated");
  assert.deepEqual([store.nextParcelSeq, store.outboxCount, store.outbox(0, 9)], [1, 0, []]);
  await store.close();
});

test("a store without topics has none after migration, and accepts new ones", async (t) => {
  const { folder, database: path } = await walkedFolder(t, 20);
  const database = new DatabaseSync(path);
  database.exec(`DROP TABLE page_topic; ${NEWEST_DROPPED} PRAGMA user_version = 4`);
  database.close();
  const model = walkedWithoutTopics(20);
  const reader = openReadOnly(folder);
  compare(reader, model, "reading");
  await reader.close();
  const store = openStore(folder);
  compare(store, model, "migrated");
  compareQueue(store, model, "migrated");
  const { totals, marks } = store;
  const batch = { ...emptyBatch(), topics: [makeTopic(2, 5), makeTopic(1, 3)], totals, marks };
  store.commit(batch);
  model.apply(batch);
  compare(store, model, "with topics");
  compareQueue(store, model, "with topics");
  await store.close();
  const again = openReadOnly(folder);
  compare(again, model, "reading again");
  await again.close();
});

test("a damaged run of the seen index is repaired transparently", async (t) => {
  const { folder } = await walkedFolder(t, 60, 100);
  const model = walked(60);
  const state = join(folder, "state");
  const runs = readdirSync(state).filter((file) => file.endsWith(".run"));
  assert.ok(runs.length > 0, "there are runs to damage");
  const whole = new Map(runs.map((run) => [run, readFileSync(join(state, run))]));
  const random = randomFrom(6);
  for (let attempt = 0; attempt < 10; attempt++) {
    for (const [run, bytes] of whole) {
      const damaged = Buffer.from(bytes);
      const at = below(random, damaged.length);
      damaged[at] = (damaged[at] ?? 0) ^ 255;
      writeFileSync(join(state, run), damaged);
    }
    const reader = openReadOnly(folder);
    compare(reader, model, `attempt ${attempt}, reading`);
    await reader.close();
    const store = openStore(folder, { seenEntriesMax: 100 });
    compareKept(store, model, `attempt ${attempt}`);
    await store.close();
  }
});

test("a full disk refuses the whole batch, and accepts it when there is space", async (t) => {
  const folder = smallDisk(t, "6m");
  if (folder === undefined) return t.skip("needs the right to mount a tmpfs");
  const filler = join(folder, "..", "filler");
  writeFileSync(filler, Buffer.alloc(3 * 2 ** 20));
  const store = openStore(folder, { seenEntriesMax: 100 });
  const model = new Model();
  let refused = 0;
  let number = 1;
  while (refused < 3) {
    const batch = walkBatch(model, number);
    try {
      store.commit(batch);
      model.apply(batch);
      number++;
    } catch (error) {
      assertCode(error, "DISK_FULL");
      compareKept(store, model, `refused commit ${number}`);
      refused++;
    }
  }
  rmSync(filler);
  for (const last = number + 5; number <= last; number++) {
    const batch = walkBatch(model, number);
    store.commit(batch);
    model.apply(batch);
  }
  compareKept(store, model, "room again");
  await store.close();
  const again = openStore(folder);
  compare(again, model, "opened again");
  await again.close();
});

test("commits fail below the minimum free space, and when the folder is deleted", async (t) => {
  const folder = emptyFolder(t);
  const limited = openStore(folder, { freeBytesMin: 2 ** 60 });
  assert.throws(() => limited.commit(walkBatch(new Model(), 1)), isError("DISK_FULL"));
  assert.equal(limited.nextUrlId, 1);
  await limited.close();
  const deleted = openStore(folder);
  rmSync(join(folder, "state"), { recursive: true });
  assert.throws(() => deleted.commit(walkBatch(new Model(), 1)), isError("FOLDER_UNWRITABLE"));
  await assert.rejects(deleted.sync(), CrawlError);
  await deleted.close();
});

test("the file is an ordinary SQLite database that names its states", async (t) => {
  const { database } = await walkedFolder(t, 20);
  const file = new DatabaseSync(database, { readOnly: true });
  assert.equal(file.prepare("PRAGMA integrity_check").get()?.["integrity_check"], "ok");
  assert.equal(file.prepare("PRAGMA application_id").get()?.["application_id"], APPLICATION_ID);
  const rows = file
    .prepare("SELECT name, count(*) AS urls FROM url JOIN state ON state.id = url.state GROUP BY 1")
    .all();
  const counted = Object.fromEntries(rows.map((row) => [row["name"], row["urls"]]));
  const { totals } = walked(20);
  const waiting = totals.known - totals.done - totals.failed - totals.skipped;
  assert.deepEqual(counted, { ...totals.outcomes, waiting });
  file.close();
});

test("a read-only store resolves fingerprints without writing anything", async (t) => {
  const { folder } = await walkedFolder(t, 60, 100);
  const files = readdirSync(join(folder, "state")).filter((file) => !file.startsWith("crawl.db-"));
  const reader = openReadOnly(folder);
  assert.deepEqual(
    [...reader.lookup(fingerprintsOf([makeUrl(3, 1, 0), makeUrl(9e6, 1, 0)]))],
    [3, 0],
  );
  await reader.close();
  const after = readdirSync(join(folder, "state")).filter((file) => !file.startsWith("crawl.db-"));
  assert.deepEqual(after, files);
});

function assertCode(error: unknown, code: ErrorCode): void {
  if (!isError(code)(error)) throw error;
}

function textsOf(
  urls: Iterable<{ readonly id: number; readonly url: string }>,
  pages: Iterable<{ readonly title: string; readonly digest: Uint8Array }>,
  topics: Iterable<PageTopic>,
): Set<string> {
  const texts = new Set<string>();
  for (const { id, url } of urls) texts.add(`${id} ${url}`);
  for (const { title, digest } of pages)
    texts.add(`${title} ${Buffer.from(digest).toString("hex")}`);
  for (const topic of topics) texts.add(JSON.stringify(topic));
  return texts;
}

/** The model of a store written by an older Weir. */
function walkedWithoutTopics(commits: number): Model {
  const model = walked(commits);
  assert.ok(model.topics.size > 0, "the walk has topics");
  model.topics.clear();
  return model;
}

/** A closed store with the first commits of the walk. */
async function walkedFolder(t: TestContext, commits: number, seenEntriesMax = 100_000) {
  const folder = emptyFolder(t);
  const store = openStore(folder, { seenEntriesMax });
  const model = new Model();
  for (let number = 1; number <= commits; number++) {
    const batch = walkBatch(model, number);
    store.commit(batch);
    model.apply(batch);
  }
  await store.close();
  return { folder, database: join(folder, "state", "crawl.db") };
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
  return join(folder, "crawl");
}

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-trouble-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
