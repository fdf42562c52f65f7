/** Ctrl-C, as people expect it: the first asks politely, the second does not wait. */

import { EXIT } from "./exit-codes.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls once with the name of what came first; whatever comes next ends the process. */
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
