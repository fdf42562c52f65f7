/**
 * The name somebody probably meant, for "did you mean …?".
 *
 * Distance counts letters added, left out, changed or swapped with their neighbour (optimal string
 * alignment); a name only begun counts as one slip. A third of the letters may be wrong: further
 * away a suggestion only confuses.
 * O(length²) per candidate.
 */

export function nearest(written: string, candidates: readonly string[]): string | undefined {
  const plain = simplified(written);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  if (plain === "" || plain.length > 64) return undefined;
  for (const candidate of candidates) {
    const name = simplified(candidate);
    const begun = plain.length >= 3 && name.startsWith(plain);
    const distance = begun ? begunDistance(name.length - plain.length) : editDistance(plain, name);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean …?`, ready to follow a semicolon; empty when nothing is near. */
export function suggestion(written: string, candidates: readonly string[]): string {
  const meant = nearest(written, candidates);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && swapped)
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** One slip; of two names that begin so, the shorter one is nearer. */
function begunDistance(lettersLeft: number): number {
  return lettersLeft === 0 ? 0 : 1 + lettersLeft / 1000;
}

/** Case and dashes are not what people get wrong. */
function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
