/**
 * The most similar name, for "did you mean …?".
 *
 * Distance counts letters added, omitted, changed or swapped with their neighbour (optimal string
 * alignment); a prefix of a name counts as one error. At most a third of the letters may be wrong:
 * less similar suggestions only confuse. O(length²) per candidate.
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

/** `did you mean …?`, to follow a semicolon; empty when no name is similar. */
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

/** One error; of two names with this prefix the shorter one is nearer. */
function begunDistance(lettersLeft: number): number {
  return lettersLeft === 0 ? 0 : 1 + lettersLeft / 1000;
}

/** Case and dashes do not count as errors. */
function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
