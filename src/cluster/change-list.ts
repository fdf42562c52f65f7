/**
 * The changes that an operator made to a crawl of several processes, in order: each process applies them by number.
 *
 * Pure. A later leader continues with the list of an earlier one. A request for a change has an id, so that it is
 * accepted once however often it is repeated.
 *
 * Memory: at most `CHANGES_MAX` changes of at most `VALUE_CHARS_MAX` characters. A change that a later one of the same
 * setting replaced is dropped first.
 */

/** A change that some node was asked for. */
export interface ChangeRequest {
  readonly id: string;
  readonly key: string;
  readonly value: string;
}

/** One that was accepted. */
export interface Change extends ChangeRequest {
  /** From 1, rising. */
  readonly number: number;
  /** What holds since then, for the operator. */
  readonly message: string;
}

/** The list travels whole in an entry of the registry, which may have 1 MiB. */
export const CHANGES_MAX = 128;
export const VALUE_CHARS_MAX = 2_048;
export const MESSAGE_CHARS_MAX = 1_000;

const EACH: ReadonlySet<string> = new Set([
  "delay",
  "connections",
  "site-limit",
  "deadline",
  "priority",
]);

/** Whether every process makes a change of this setting for itself; the others concern what is shared. */
export function isMadeByEach(key: string): boolean {
  return EACH.has(key);
}

export class ChangeList {
  #changes: readonly Change[];

  constructor(changes: readonly Change[] = []) {
    this.#changes = changes;
  }

  get all(): readonly Change[] {
    return this.#changes;
  }

  /** The number of the latest; 0 for none. */
  get last(): number {
    return this.#changes.at(-1)?.number ?? 0;
  }

  has(id: string): boolean {
    return this.#changes.some((change) => change.id === id);
  }

  /** Why a request cannot be taken; undefined when it can. */
  whyNot({ key, value }: Pick<ChangeRequest, "key" | "value">): string | undefined {
    if (value.length > VALUE_CHARS_MAX)
      return `a value of a change has at most ${VALUE_CHARS_MAX} characters`;
    const isFull = this.#changes.length >= CHANGES_MAX && this.#oldestReplaced({ key, value }) < 0;
    return isFull ? `a crawl of several processes keeps at most ${CHANGES_MAX} changes` : undefined;
  }

  add(request: ChangeRequest, message: string): void {
    const change = { ...request, message: message.slice(0, MESSAGE_CHARS_MAX) };
    if (this.#changes.length >= CHANGES_MAX)
      this.#changes = this.#changes.toSpliced(Math.max(0, this.#oldestReplaced(request)), 1);
    this.#changes = [...this.#changes, { ...change, number: this.last + 1 }];
  }

  /**
   * Numbers all again from above `number`, so that every process applies them again: one has applied a change of
   * that number that was lost with an earlier leader.
   */
  renumberAbove(number: number): void {
    this.#changes = this.#changes.map((change, index) => ({
      ...change,
      number: number + index + 1,
    }));
  }

  #oldestReplaced(by: Pick<ChangeRequest, "key" | "value">): number {
    const subjects = [...this.#changes, by].map(subjectOf);
    return subjects.findIndex((subject, at) => subjects.includes(subject, at + 1));
  }
}

/** What a change sets: a setting, or one of a site. */
function subjectOf({ key, value }: Pick<ChangeRequest, "key" | "value">): string {
  const isOfSite = key === "deadline" || key === "priority";
  return isOfSite ? `${key} ${value.slice(0, value.lastIndexOf("="))}` : key;
}
