/** Runs the program as its users do: words in, exit code and two streams out. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const LAUNCHER = join(ROOT, "weir");
const MAIN = join(ROOT, "src/cli/main.ts");
/** Ends a program that hangs. */
const PATIENCE_MS = 600_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when the text has come on either stream. */
  saw(text: string | RegExp): Promise<void>;
}

export interface Place {
  readonly folder?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** When a program that has not ended is ended. */
  readonly patienceMs?: number;
  /** Instead of the program itself: the launcher, a shell. */
  readonly program?: readonly [string, ...string[]];
}

export function start(words: readonly string[], place: Place = {}): Running {
  const [program, ...first] = place.program ?? [process.execPath, MAIN];
  const child = spawn(program, [...first, ...words], {
    cwd: place.folder ?? ROOT,
    env: { ...plainVariables(), ...place.variables },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: place.patienceMs ?? PATIENCE_MS,
  });
  const told = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      told[name] += text;
      for (const watcher of watchers) watcher();
    });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => resolve({ code, ...told }));
  });
  const saw = async (text: string | RegExp): Promise<void> => {
    const seen = new Promise<void>((resolve) => {
      const watcher = (): void => {
        if ((told.stdout + told.stderr).search(text) < 0) return;
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
      watcher();
    });
    const early = ended.then((end) => {
      throw new Error(`ended before it said ${text}: ${JSON.stringify(end)}`);
    });
    await Promise.race([seen, early]);
  };
  return { process: child, ended, saw };
}

export function run(words: readonly string[], place: Place = {}): Promise<Ended> {
  return start(words, place).ended;
}

/** A folder that is gone after the test. */
export function temporaryFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "weir-cli-"));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Without whatever the tester has set for Weir, for colours or for the test runner. */
function plainVariables(): Record<string, string | undefined> {
  const ours = /^(WEIR_|NO_COLOR|FORCE_COLOR|CI$|NODE_TEST_CONTEXT|NODE_OPTIONS)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
