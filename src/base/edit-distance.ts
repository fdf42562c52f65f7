/** How different two words are: letters inserted, deleted, replaced or swapped with their neighbour. */

/** Optimal string alignment, in O(length of one × length of the other). */
export function editsBetween(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let at = 1; at <= to.length; at++) {
      const isSame = from[row - 1] === to[at - 1];
      const isSwapped = from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1];
      const replaced = (last[at - 1] ?? 0) + (isSame ? 0 : 1);
      const fewest = Math.min(replaced, (last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1);
      next.push(isSwapped && at > 1 ? Math.min(fewest, (before[at - 2] ?? 0) + 1) : fewest);
    }
    [before, last] = [last, next];
  }
  return last[to.length] ?? 0;
}
