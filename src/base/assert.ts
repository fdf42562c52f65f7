/** Our own promises, checked while running: a broken one stops the program, and nothing catches it. */

export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

export function assert(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new BrokenPromise(promise);
}

/** The compiler proves this is never reached; the assert is for data that lied to it. */
export function unreachable(value: never): never {
  throw new BrokenPromise(`no case for ${JSON.stringify(value)}`);
}
