/** Starts the real program and kills it with -9 at the moment a `Kill` names. */

import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import { type Ended, start } from "../cli/program.ts";
import type { Kill } from "./kill-schedule.ts";

export interface Doom {
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** The crawl's folder. */
  readonly folder: string;
  readonly kill: Kill;
  /** Whether it has gone as far as it should before the kill. */
  readonly isDue: () => boolean;
  /** How long a start takes, for kills by the clock. */
  readonly startMs: number;
}

export interface Death {
  /** False when the program ended before the blow fell. */
  readonly wasKilled: boolean;
  readonly ended: Ended;
}

const LOOK_EVERY_MS = 1;
const MOMENT_MS_MAX = 50;
/** A commit and a new file take about this long. */
const EVENT_MS_MAX = 4;

export async function runAndKill(doom: Doom): Promise<Death> {
  const { kill, isDue, folder } = doom;
  const program = start(doom.words, { variables: doom.variables });
  using watching = new DisposableStack();
  let isAimed = false;
  let wasKilled = false;
  const strike = (): void => {
    wasKilled = program.process.exitCode === null && program.process.kill("SIGKILL");
  };
  const strikeAfter = (delayMs: number): void => {
    if (isAimed) return;
    isAimed = true;
    // Half of the blows at an event fall without any delay.
    if (delayMs < 1) return strike();
    const timer = setTimeout(strike, delayMs);
    watching.defer(() => clearTimeout(timer));
  };
  const eventMs = (2 * kill.delayShare - 1) * EVENT_MS_MAX;
  let changes = 0;
  const onChange = (place: "state" | "archive", type: string, file: string): void => {
    changes += 1;
    if (kill.changes !== undefined && changes >= kill.changes) strikeAfter(0);
    const isCommit = place === "state" && file === "crawl.db-wal";
    const isRotation = place === "archive" && type === "rename" && file.endsWith(".warc.gz");
    if (!isDue()) return;
    if (isCommit && kill.aim === "commit") strikeAfter(eventMs);
    if (isRotation && kill.aim === "rotation") strikeAfter(eventMs);
  };
  for (const place of ["state", "archive"] as const)
    watching.use(onChangeIn(join(folder, place), (type, file) => onChange(place, type, file)));
  if (kill.aim === "start" && kill.changes === undefined)
    strikeAfter(1 + kill.delayShare * doom.startMs);
  const look = setInterval(() => {
    if (kill.aim === "moment" && isDue()) strikeAfter(kill.delayShare * MOMENT_MS_MAX);
  }, LOOK_EVERY_MS);
  watching.defer(() => clearInterval(look));
  const ended = await program.ended;
  return { wasKilled: wasKilled && ended.code === null, ended };
}

/** Tells of changes in a folder, also when it is only made later. */
function onChangeIn(folder: string, tell: (type: string, file: string) => void): Disposable {
  const stop = new AbortController();
  const begin = (): boolean => {
    if (!existsSync(folder)) return false;
    watch(folder, { signal: stop.signal }, (type, file) => tell(type, file ?? ""));
    return true;
  };
  if (!begin()) {
    const timer = setInterval(() => {
      if (begin()) clearInterval(timer);
    }, LOOK_EVERY_MS);
    stop.signal.addEventListener("abort", () => clearInterval(timer));
  }
  return { [Symbol.dispose]: () => stop.abort() };
}
