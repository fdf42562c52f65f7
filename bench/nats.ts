/**
 * The bus over a real nats-server: how much it carries, and how soon it carries again after a fault.
 *
 * Usage: node bench/nats.ts [rounds]
 *
 * First parcels of several sizes from one node to another, each with its receipt. Then, in every round, the
 * server is killed and started, stopped and continued, its store wiped (every sixth round), one node cut
 * off, and its way stalled for longer than a connection may be silent, while both nodes write to each
 * other. Nothing may be lost; the time from the end of a fault until the next parcel written has its receipt is printed. Prints tables, then JSON.
 */

import { setTimeout as wait } from "node:timers/promises";
import { below, randomFrom } from "../src/base/random.ts";
import { FaultProxy } from "../test/cluster/fault-proxy.ts";
import { noise, Post, until } from "../test/cluster/nats-post.ts";
import { NatsServer } from "../test/cluster/nats-server.ts";

const CARRY_MS = 3_000;
const WAITING_MAX = 200;
const STALL_MS = 25_000;

interface Carried {
  readonly bytes: number;
  readonly parcelsPerSecond: number;
  readonly bytesPerSecond: number;
  readonly cpuUsPerParcel: number;
}

async function carry(bytes: number): Promise<Carried> {
  await using server = await NatsServer.start();
  await using post = new Post("carry");
  await post.join("a", server.url);
  await post.join("b", server.url);
  const body = noise(randomFrom(1), bytes);
  const [startedMs, cpuBefore] = [performance.now(), process.cpuUsage()];
  let written = 0;
  while (performance.now() - startedMs < CARRY_MS) {
    for (; post.waiting < WAITING_MAX; written++) post.write("a", "b", body);
    await wait(1);
  }
  await post.delivered();
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const parcelsPerSecond = written / seconds;
  const cpuUsPerParcel = (user + system) / written;
  return { bytes, parcelsPerSecond, bytesPerSecond: bytes * parcelsPerSecond, cpuUsPerParcel };
}

type Fault = "kill" | "wipe" | "stop 3 s" | "cut 3 s" | "stall 25 s";

async function suffer(rounds: number): Promise<Map<Fault, number[]>> {
  await using server = await NatsServer.start();
  await using proxy = await FaultProxy.start(server.port);
  await using post = new Post("suffer");
  await post.join("a", server.url);
  await post.join("b", proxy.url);
  const random = randomFrom(1);
  const talking = setInterval(() => {
    if (post.waiting > WAITING_MAX) return;
    post.write("a", "b", noise(random, below(random, 20_000)));
    post.write("b", "a", noise(random, below(random, 20_000)));
  }, 10);
  const faults: Record<Fault, () => Promise<void>> = {
    kill: () => server.restart(),
    wipe: () => server.wipe(),
    "stop 3 s": async () => {
      if (server.pid !== undefined) process.kill(server.pid, "SIGSTOP");
      await wait(3_000);
      if (server.pid !== undefined) process.kill(server.pid, "SIGCONT");
    },
    "cut 3 s": async () => {
      proxy.cut();
      await wait(3_000);
      proxy.heal();
    },
    "stall 25 s": async () => {
      proxy.stall();
      await wait(STALL_MS);
      proxy.heal();
    },
  };
  const recoveries = new Map<Fault, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, fault] of Object.entries(faults) as [Fault, () => Promise<void>][]) {
      if (name === "wipe" && round % 6 !== 0) continue;
      if (name === "stall 25 s" && round % 10 !== 0) continue;
      await fault();
      const healedMs = performance.now();
      const id = post.write("b", "a", noise(random, 100));
      await until(() => post.isDelivered(id));
      const took = recoveries.get(name) ?? [];
      recoveries.set(name, [...took, performance.now() - healedMs]);
      await wait(100);
    }
  }
  clearInterval(talking);
  await post.delivered();
  return recoveries;
}

const rounds = Number(process.argv[2] ?? 30);
const carried: Carried[] = [];
for (const bytes of [100, 20_000, 250_000, 1_000_000]) carried.push(await carry(bytes));
console.log(
  "| parcel, bytes | parcels/s | MB/s | CPU µs a parcel, both nodes |\n|---|---|---|---|",
);
for (const { bytes, parcelsPerSecond, bytesPerSecond, cpuUsPerParcel } of carried)
  console.log(
    `| ${bytes} | ${Math.round(parcelsPerSecond)} | ${(bytesPerSecond / 1e6).toFixed(1)} | ${Math.round(cpuUsPerParcel)} |`,
  );
const recoveries = await suffer(rounds);
console.log("\n| fault | times | carried again after, median | worst |\n|---|---|---|---|");
for (const [fault, tookMs] of recoveries) {
  const sorted = tookMs.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  console.log(
    `| ${fault} | ${sorted.length} | ${Math.round(median)} ms | ${Math.round(sorted.at(-1) ?? 0)} ms |`,
  );
}
console.log("\nnothing lost");
console.log(JSON.stringify({ carried, recoveries: Object.fromEntries(recoveries) }));
