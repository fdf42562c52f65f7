/**
 * When to kill: a seeded list of kills, half at any moment, half where it should hurt most.
 *
 * A program that is killed while it starts is killed several times in a row, because whatever one
 * start leaves behind is what the next one meets. The first of these rows meets no folder at all.
 */

import { below, type Random } from "../../src/base/random.ts";

/**
 * - `moment`: whatever it is doing;
 * - `commit`: it has just written to the store's log;
 * - `rotation`: it has just begun a new archive file;
 * - `start`: it is opening what the last life left.
 */
export type Aim = "moment" | "commit" | "rotation" | "start";

export interface Kill {
  readonly aim: Aim;
  /** How far to let it go first, in shares of the work that falls to one life. */
  readonly afterShare: number;
  /** How long after the event, as a share of what is usual for the aim. */
  readonly delayShare: number;
  /** Of a start: at so many changes in its folder, or by the clock when undefined. */
  readonly changes: number | undefined;
}

const STARTS_IN_A_ROW = 4;
const CHANGES_MAX = 12;
/** Below 1.5 on average, so that there is work left for every life. */
const SHARE_MAX = 1.5;

export function killSchedule(random: Random, count: number): Kill[] {
  const aimed = Math.floor(count / 2);
  const starts = Math.floor(aimed / 3);
  const rotations = Math.floor((aimed - starts) / 2);
  const first = Math.min(starts, STARTS_IN_A_ROW);
  const groups: Aim[][] = [];
  for (let index = 0; index < count - starts; index++) {
    const isRotation = index < rotations;
    const isCommit = !isRotation && index < aimed - starts;
    groups.push([isRotation ? "rotation" : isCommit ? "commit" : "moment"]);
  }
  for (let left = starts - first; left > 0; left -= STARTS_IN_A_ROW)
    groups.push(startsInARow(Math.min(left, STARTS_IN_A_ROW)));
  return [startsInARow(first), ...shuffled(random, groups)].flat().map((aim) => ({
    aim,
    afterShare: SHARE_MAX * random.next(),
    delayShare: random.next(),
    changes: aim === "start" && random.next() < 0.5 ? 1 + below(random, CHANGES_MAX) : undefined,
  }));
}

function startsInARow(count: number): Aim[] {
  return Array.from({ length: count }, () => "start");
}

function shuffled<T>(random: Random, things: readonly T[]): T[] {
  const left = [...things];
  return things.map(() => left.splice(below(random, left.length), 1)[0] as T);
}
