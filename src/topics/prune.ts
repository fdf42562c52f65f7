/**
 * Makes a trained classifier smaller: keeps the terms that can change a score most.
 *
 * The effect of a term is the range of its weights over the topics, times its weight in a page (its rarity, where the
 * method uses it), times the square root of the number of pages with it, which is proportional to e^(-rarity / 2).
 * Rows keep their order, so the same examples give the same file.
 */

import { TermTable } from "./term-table.ts";
import type { Trained } from "./trained.ts";

export function pruned(trained: Trained, termsMax: number): Trained {
  const { topics, table, weights, rarity } = trained;
  if (table.size <= termsMax) return trained;
  const width = topics.length;
  const reach = Float64Array.from({ length: table.size }, (_, row) => {
    const own = weights.subarray(row * width, (row + 1) * width);
    const rare = rarity[row];
    const often = rare === undefined ? 1 : rare * Math.exp(-rare / 2);
    return (Math.max(...own) - Math.min(...own)) * often;
  });
  const kept = Int32Array.from(reach, (_, row) => row)
    .sort((a, b) => (reach[b] as number) - (reach[a] as number) || a - b)
    .slice(0, termsMax)
    .sort();
  const keys = table.keys();
  const lighter = new Float32Array(kept.length * width);
  for (const [to, from] of kept.entries())
    lighter.set(weights.subarray(from * width, (from + 1) * width), to * width);
  return {
    ...trained,
    table: TermTable.of(Int32Array.from(kept, (row) => keys[row] as number)),
    weights: lighter,
    rarity: rarity.length === 0 ? rarity : Float32Array.from(kept, (row) => rarity[row] as number),
  };
}
