/** Assertions about the program's own logic: a broken one stops the program, and nothing catches it. */

export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

export function assert(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new BrokenPromise(promise);
}

/** For cases that the compiler excludes; the exception reports data that contradicts its type. */
export function unreachable(value: never): never {
  throw new BrokenPromise(`no case for ${JSON.stringify(value)}`);
}
