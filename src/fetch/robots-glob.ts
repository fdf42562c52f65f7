/**
 * Matches one path against many patterns with `*`, in bounded work whatever they are.
 *
 * A pattern is pieces between stars; taking the leftmost place for each piece in turn never misses a
 * match, so there is nothing to go back to. When there are many patterns, the pairs of characters in
 * the path are marked once, and a pattern with a pair that is nowhere in the path is passed over.
 *
 * What still has to be searched is charged by the character. A hostile file could ask for more work
 * than a verdict is worth; when the charge is used up the trial is over, and says so.
 */

export interface Glob {
  readonly pieces: readonly string[];
  readonly isAnchored: boolean;
  readonly pathLengthMin: number;
  /** Hashes of some pairs of characters that every matching path holds. */
  readonly pairs: readonly number[];
}

/** About 5 ms for text, and 40 ms for the worst that could be made up. */
const SEARCHED_CHARACTERS_MAX = 5_000_000;
const PAIRS_PER_GLOB_MAX = 4;
const MARK_AFTER_GLOBS = 16;
const PAIR_HASHES = 4_096;

// A trial ends before the next begins, so the marks are shared, and a new number unmarks them all.
const marks = new Uint32Array(PAIR_HASHES);
let markNumber = 0;

export function globOf(pattern: string): Glob {
  const isAnchored = pattern.endsWith("$");
  const searched = isAnchored ? pattern.slice(0, -1) : pattern;
  const pieces = searched.split(searched.includes("**") ? /\*+/ : "*");
  const pathLengthMin = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { pieces, isAnchored, pathLengthMin, pairs: pairsOf(pieces) };
}

export class Trial {
  readonly #path: string;
  #globsTried = 0;
  #charactersLeft = SEARCHED_CHARACTERS_MAX;

  constructor(path: string) {
    this.#path = path;
  }

  /** True when no more patterns can be tried; `matches` was not to be believed the last time. */
  get isSpent(): boolean {
    return this.#charactersLeft < 0;
  }

  begins(glob: Glob): boolean {
    return this.#path.startsWith(glob.pieces[0] as string);
  }

  matches(glob: Glob): boolean {
    const path = this.#path;
    this.#globsTried += 1;
    if (this.#globsTried === MARK_AFTER_GLOBS) markPairs(path);
    if (path.length < glob.pathLengthMin || !this.begins(glob)) return false;
    if (this.#globsTried >= MARK_AFTER_GLOBS && !areMarked(glob.pairs)) return false;
    const { pieces, isAnchored } = glob;
    const searched = isAnchored ? pieces.length - 1 : pieces.length;
    let at = (pieces[0] as string).length;
    for (let index = 1; index < searched && !this.isSpent; index++) {
      const piece = pieces[index] as string;
      const foundAt = path.indexOf(piece, at);
      this.#charactersLeft -= (foundAt < 0 ? path.length : foundAt + piece.length) - at;
      if (foundAt < 0) return false;
      at = foundAt + piece.length;
    }
    if (!isAnchored) return true;
    const last = pieces[searched] as string;
    return path.length - last.length >= at && path.endsWith(last);
  }
}

function pairsOf(pieces: readonly string[]): readonly number[] {
  const pairs: number[] = [];
  // The ends of pieces differ more than their beginnings, and the last piece the most.
  for (let index = pieces.length - 1; index >= 0 && pairs.length < PAIRS_PER_GLOB_MAX; index--) {
    const piece = pieces[index] as string;
    for (let at = piece.length - 2; at >= 0 && pairs.length < PAIRS_PER_GLOB_MAX; at--)
      pairs.push(pairAt(piece, at));
  }
  return pairs;
}

function markPairs(path: string): void {
  markNumber += 1;
  for (let at = 0; at + 1 < path.length; at++) marks[pairAt(path, at)] = markNumber;
}

function areMarked(pairs: readonly number[]): boolean {
  for (let index = 0; index < pairs.length; index++)
    if (marks[pairs[index] as number] !== markNumber) return false;
  return true;
}

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 61 + text.charCodeAt(at + 1)) % PAIR_HASHES;
}
