/**
 * Whether a set of sites can all keep their deadlines, told anew at once when one comes or goes.
 *
 * By each of some moments a site has to have brought what it could not bring between then and its deadline, at its
 * cap. All deadlines can be kept if nobody needs more than its cap and, by each deadline, all together no more than the
 * line brings until then (`guarded-schedule.ts` says why). O(k) a site for k deadlines.
 */

/** So much less than the line brings, for sums are rounded; deadlines have more to spare than that (`work.ts`). */
const BROUGHT_SHARE = 1 - 1e-12;

export interface Claim {
  readonly bytes: number;
  readonly capBps: number;
  readonly deadlineSeconds: number;
}

export class Cuts {
  readonly #marks: Float64Array;
  readonly #broughtBytes: Float64Array;
  readonly #dueBytes: Float64Array;

  /** The deadlines of all that will come, ascending. */
  constructor(rateBps: number, marks: Float64Array) {
    this.#marks = marks;
    this.#broughtBytes = marks.map((seconds) => seconds * rateBps * BROUGHT_SHARE);
    this.#dueBytes = new Float64Array(marks.length);
  }

  add(claim: Claim): void {
    this.#change(claim, 1);
  }

  remove(claim: Claim): void {
    this.#change(claim, -1);
  }

  #change({ bytes, capBps, deadlineSeconds }: Claim, times: number): void {
    const marks = this.#marks;
    const dues = this.#dueBytes;
    for (let mark = marks.length - 1; mark >= 0; mark--) {
      const afterSeconds = deadlineSeconds - (marks[mark] as number);
      const due = afterSeconds > 0 ? bytes - capBps * afterSeconds : bytes;
      if (due <= 0) return;
      dues[mark] = (dues[mark] as number) + times * due;
    }
  }

  get areKept(): boolean {
    for (let mark = this.#marks.length - 1; mark >= 0; mark--)
      if ((this.#dueBytes[mark] as number) > (this.#broughtBytes[mark] as number)) return false;
    return true;
  }
}
