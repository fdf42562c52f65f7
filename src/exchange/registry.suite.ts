/** The promises of every registry, as tests. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { ENTRY_BYTES_MAX, type Registry, RegistryAway, type RegistryEntry } from "./registry.ts";

export interface RegistryUnderTest {
  /** The connections of two nodes to one empty table. */
  readonly ours: Registry;
  readonly theirs: Registry;
  /** Loses the whole table. */
  readonly wipe: () => Promise<void>;
}

export function registrySuite(name: string, open: () => Promise<RegistryUnderTest>): void {
  const testIn = (sentence: string, body: (under: RegistryUnderTest) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async () => {
      const under = await open();
      try {
        await body(under);
      } finally {
        await under.ours.close();
        await under.theirs.close();
      }
    });
  };

  testIn("who knows the latest revision may write, and nobody else", async ({ ours, theirs }) => {
    assert.equal(await ours.get("leader"), undefined);
    const first = written(await ours.put("leader", "us", 0));
    assert.deepEqual(await theirs.get("leader"), { value: "us", revision: first });
    assert.equal(await theirs.put("leader", "them", 0), undefined);
    const second = written(await theirs.put("leader", "them", first));
    assert.notEqual(second, first);
    assert.equal(await ours.put("leader", "us", first), undefined);
    assert.deepEqual(await ours.get("leader"), { value: "them", revision: second });
  });

  testIn("a removed key is absent, and comes back under a new revision", async (under) => {
    const { ours, theirs } = under;
    const first = written(await ours.put("k", "1", 0));
    const second = written(await ours.put("k", "2", first));
    assert.equal(await theirs.remove("k", first), false);
    assert.equal(await theirs.remove("k", second), true);
    assert.equal(await theirs.remove("k", second), false);
    assert.equal(await ours.get("k"), undefined);
    assert.equal(await ours.put("k", "3", second), undefined);
    const third = written(await theirs.put("k", "3", 0));
    assert.ok(third !== first && third !== second);
    assert.deepEqual(await ours.get("k"), { value: "3", revision: third });
  });

  testIn("many who count up one number at the same time lose no count", async (under) => {
    const { ours, theirs } = under;
    await Promise.all([ours, theirs, ours, theirs].map(countToTen));
    assert.equal((await ours.get("n"))?.value, "40");
  });

  testIn("keys and values are any text, and keys that look alike are different", async (under) => {
    const keys = [
      "a.b",
      "a b",
      "a*",
      "a>",
      "a_2eb",
      "A.B",
      "\u00e9",
      "e\u0301",
      "\n",
      "life",
      "x".repeat(999),
    ];
    for (const key of keys) written(await under.ours.put(key, `${key}\u0000"`, 0));
    for (const key of keys) assert.equal((await under.theirs.get(key))?.value, `${key}\u0000"`);
  });

  testIn(
    "an entry above the limit is our own mistake, and one at the limit is not",
    async (under) => {
      const value = "é".repeat(ENTRY_BYTES_MAX / 2 - 1);
      await assert.rejects(async () => under.ours.put("key", value, 0), { name: "BrokenPromise" });
      const revision = written(await under.ours.put("k", value, 0));
      assert.deepEqual(await under.theirs.get("k"), { value, revision });
    },
  );

  testIn("a lost table is an empty table: old revisions open nothing", async (under) => {
    const { ours, theirs, wipe } = under;
    const old = written(await ours.put("leader", "us", 0));
    await ours.put("kept", "1", 0);
    await wipe();
    assert.equal(await patiently(() => theirs.get("leader")), undefined);
    // As many writes as before, so that plain numbers would be equal.
    let theirRevision = written(await patiently(() => theirs.put("leader", "them", 0)));
    for (let count = 0; count < 5; count++) {
      assert.equal(await patiently(() => ours.put("leader", "us again", old)), undefined);
      assert.equal(await patiently(() => ours.remove("leader", old)), false);
      theirRevision = written(await theirs.put("leader", "them", theirRevision));
    }
    assert.equal(await theirs.get("kept"), undefined);
  });

  testIn("over many steps of two nodes it is a table", async (under) => {
    const { ours, theirs } = under;
    for (let seed = 1; seed <= 4; seed++) {
      const random = randomFrom(seed);
      const model = new Map<string, RegistryEntry>();
      for (let step = 0; step < 60; step++) {
        const [registry, key] = [pick(random, [ours, theirs]), `${seed}/${below(random, 4)}`];
        const known = model.get(key);
        assert.deepEqual(await registry.get(key), known, `seed ${seed}, step ${step}`);
        if (known !== undefined && random.next() < 0.3) {
          assert.ok(await registry.remove(key, known.revision), `seed ${seed}, step ${step}`);
          model.delete(key);
        } else {
          const value = String(step);
          const revision = written(await registry.put(key, value, known?.revision ?? 0));
          model.set(key, { value, revision });
        }
      }
    }
  });
}

async function countToTen(registry: Registry): Promise<void> {
  for (let done = 0; done < 10;) {
    const entry = await registry.get("n");
    const value = String(Number(entry?.value ?? 0) + 1);
    if ((await registry.put("n", value, entry?.revision ?? 0)) !== undefined) done++;
  }
}

function written(revision: number | undefined): number {
  assert.ok(revision !== undefined && revision > 0);
  return revision;
}

/** Repeats a request while the registry is away. */
async function patiently<T>(question: () => Promise<T>): Promise<T> {
  for (let count = 0; ; count++) {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof RegistryAway) || count === 6_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
