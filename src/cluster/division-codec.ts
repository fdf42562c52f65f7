/**
 * A division in compact form, for messages and the registry.
 *
 * Sets of buckets are written in layers: a layer holds for each bucket the number of one set that contains it, or 0, in
 * two bytes, compressed. Most buckets are in few sets, so thousands of buckets and dozens of nodes fit an entry of the
 * registry.
 */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Division, Handing } from "../crawl/ownership.ts";
import type { Totals } from "../store/store.ts";

export interface WrittenDivision {
  readonly epoch: number;
  readonly bucketCount: number;
  readonly names: readonly string[];
  readonly owners: Layers;
  readonly handing: readonly Handing[];
  readonly handed: Layers;
  /** The epochs of losses. */
  readonly losses: readonly number[];
  readonly lost: Layers;
  /** Processes that owned other buckets before. */
  readonly formers: readonly string[];
  readonly formerly: Layers;
  readonly members: readonly string[];
  readonly left: readonly { readonly name: string; readonly totals: Totals }[];
}

/** In base64. */
type Layers = readonly string[];
type Buckets = ReadonlySet<number>;

export function writeDivision(division: Division): WrittenDivision {
  const { epoch, owners, losses, formerly, members, left } = division;
  const owned = Map.groupBy(owners.keys(), (bucket) => owners[bucket] as string);
  owned.delete("");
  const handing = groupedByHanding(division.inTransit);
  const layers = (sets: readonly Buckets[]): Layers => writeLayers(sets, owners.length);
  return {
    epoch,
    bucketCount: owners.length,
    names: [...owned.keys()],
    owners: layers([...owned.values()].map((buckets) => new Set(buckets))),
    handing: handing.map(({ from, epoch: since }) => ({ from, epoch: since })),
    handed: layers(handing.map(({ buckets }) => buckets)),
    losses: losses.map((loss) => loss.epoch),
    lost: layers(losses.map(({ buckets }) => buckets)),
    formers: [...formerly.keys()],
    formerly: layers([...formerly.values()]),
    members: [...members],
    left: [...left].map(([name, totals]) => ({ name, totals })),
  };
}

/** undefined if it cannot be decompressed. */
export function readDivision(written: WrittenDivision): Division | undefined {
  try {
    return divisionIn(written);
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function divisionIn(written: WrittenDivision): Division {
  const { epoch, bucketCount, names, handing, losses, formers } = written;
  const owners = Array.from({ length: bucketCount }, () => "");
  const read = (layers: Layers, setCount: number): Buckets[] =>
    readLayers(layers, setCount, bucketCount);
  for (const [index, buckets] of read(written.owners, names.length).entries())
    for (const bucket of buckets) owners[bucket] = names[index] as string;
  const inTransit = new Map<number, Handing[]>();
  for (const [index, buckets] of read(written.handed, handing.length).entries())
    for (const bucket of buckets)
      inTransit.set(bucket, [...(inTransit.get(bucket) ?? []), handing[index] as Handing]);
  const lost = read(written.lost, losses.length);
  const formerly = read(written.formerly, formers.length);
  return {
    epoch,
    owners,
    inTransit,
    losses: losses.map((at, index) => ({ epoch: at, buckets: lost[index] as Buckets })),
    formerly: new Map(formers.map((name, index) => [name, formerly[index] as Buckets])),
    members: new Set(written.members),
    left: new Map(written.left.map(({ name, totals }) => [name, totals])),
  };
}

function groupedByHanding(
  inTransit: Division["inTransit"],
): readonly (Handing & { readonly buckets: Buckets })[] {
  const groups = new Map<string, Handing & { readonly buckets: Set<number> }>();
  for (const [bucket, all] of inTransit)
    for (const { from, epoch } of all) {
      const key = `${epoch} ${from}`;
      const group = groups.get(key) ?? { from, epoch, buckets: new Set() };
      groups.set(key, group);
      group.buckets.add(bucket);
    }
  return [...groups.values()];
}

function writeLayers(sets: readonly Buckets[], bucketCount: number): Layers {
  const layers: Uint16Array[] = [];
  for (const [index, buckets] of sets.entries())
    for (const bucket of buckets) {
      let layer = layers.find((one) => one[bucket] === 0);
      if (layer === undefined) layers.push((layer = new Uint16Array(bucketCount)));
      layer[bucket] = index + 1;
    }
  return layers.map((layer) => {
    const bytes = Buffer.alloc(2 * bucketCount);
    for (const [bucket, number] of layer.entries()) bytes.writeUInt16LE(number, 2 * bucket);
    return deflateRawSync(bytes).toString("base64");
  });
}

function readLayers(layers: Layers, setCount: number, bucketCount: number): Buckets[] {
  const sets = Array.from({ length: setCount }, () => new Set<number>());
  for (const text of layers) {
    const maxOutputLength = 2 * bucketCount;
    const bytes = inflateRawSync(Buffer.from(text, "base64"), { maxOutputLength });
    for (let bucket = 0; 2 * bucket + 1 < bytes.length; bucket++) {
      const number = bytes.readUInt16LE(2 * bucket);
      if (number > 0) sets[number - 1]?.add(bucket);
    }
  }
  return sets;
}
