/** Ctrl-C: the first one stops gracefully, the second one at once. */

import { EXIT } from "./exit-codes.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls back once with the name of the first signal; the next one ends the process. */
export function onInterrupt(askToStop: (why: string) => void): Disposable {
  let asked = false;
  const hear = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(EXIT.killed);
    asked = true;
    askToStop(signal === "SIGINT" ? "Ctrl-C" : signal);
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return {
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, hear);
    },
  };
}
