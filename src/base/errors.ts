/** The errors that an operator can cause or fix: a permanent code, the fault, and the remedy. */

export const REMEDIES = {
  USAGE: "Run `weir --help`, or `weir COMMAND --help` for examples.",
  SETTINGS_INVALID:
    "Fix the settings named above; `weir crawl --help all` lists all settings with their units.",
  SEEDS_MISSING:
    "Give at least one URL (weir crawl https://example.org/), a --seeds file or `sites:` in weir.yaml.",
  SEED_REFUSED:
    "Correct the seed, or the --include or --exclude pattern that refuses it; private and loopback addresses also need --allow-private with their range, e.g. --allow-private 127.0.0.0/8.",
  FILE_UNREADABLE: "Check that the file exists, is readable and holds what the option expects.",
  FOLDER_FOREIGN:
    "Give --out another folder: this one contains files that are not from a Weir crawl; they were not changed.",
  FOLDER_UNWRITABLE: "Make the folder writable, or give --out another one.",
  FOLDER_MISSING: "Give the folder of a crawl: the one in `weir crawl --out`.",
  CLUSTER_MISMATCH:
    "Give --crawl another name, use the same settings, seeds and version on all nodes, or start over with --fresh once the other crawl has ended.",
  PROCESS_FAILED:
    "The stored state is safe. Run again with --verbose to see why the process ends, or with --procs 1 for a single process.",
  STORE_LOCKED: "Another process is using this folder. Stop it, or give --out another folder.",
  STORE_NEWER:
    "This folder was written by a newer Weir. Update Weir, or give --out another folder; nothing was changed.",
  STORE_CORRUPT:
    "The state on disk is damaged at the place named above. Keep the folder, restore it from a backup, or start over with --fresh.",
  STORE_CHANGED:
    "This folder belongs to a crawl with other settings. Use the same settings, another --out, or --fresh to start over.",
  SEARCH_INDEX_DAMAGED:
    "Remove the folder `search` inside the crawl's folder; `weir search` rebuilds the index from the archive.",
  SPEEDS_UNREADABLE:
    "Move the file away to measure the speeds of servers again, or give another file with --speeds; the file was not changed.",
  DISK_FULL:
    "Free space on the disk; a running crawl then resumes by itself, a stopped one with the same command.",
  DESCRIPTORS_USED_UP:
    "Raise the limit of open files: run `ulimit -n 4096` in the same shell before the command, or set LimitNOFILE= in the systemd unit. A crawl that is running resumes as soon as files or connections are closed.",
  DEADLINES_OUT_OF_REACH:
    "Raise --limit, give the sites more time, or leave out --strict to meet as many deadlines as possible.",
  BUS_UNREACHABLE:
    "Check --nats, that nats-server runs there, and that no firewall blocks its port.",
  BUS_DENIED:
    "Check the credentials given for NATS, and that the user may publish and subscribe to the subjects in docs/cluster.md.",
  BUS_TLS:
    "Check that the server's certificate is for the name in --nats and signed by the authority given, and that it accepts Weir's certificate.",
  BUS_NO_JETSTREAM:
    "Start nats-server with JetStream (-js, or `jetstream {}` in its file), with room in its store and for this account.",
  BUS_PAYLOAD:
    "Raise max_payload in the configuration of nats-server; its own default of 1MB is enough.",
  NOT_RUNNING:
    "Only a running crawl can be changed. Start it with the same `weir crawl` command first.",
  NOT_APPLIED:
    "Check that NATS and the other nodes are reachable. The change is requested again until a leader accepts it, as long as this node runs.",
  NOT_CONFIRMED:
    "A node without contact to the leader is paused and makes the change as soon as it is back; repeat the command to see whether it has.",
  DASHBOARD_PORT:
    "Give --dashboard another port (0 for any free port), and --dashboard-host an address of this machine.",
  DEMO_PORT: "Wait until the other demo has ended, or stop the program that listens on this port.",
  RUNTIME_OLD: "Run ./weir, which uses its own Node, or install the version named above.",
} as const satisfies Record<string, string>;

/** The code of an error, which never changes; docs/errors.md lists all codes with their remedies. */
export type ErrorCode = keyof typeof REMEDIES;

/** True for errors that pass by themselves: a running crawl pauses and retries until there is room again. */
export function isLackOfRoom(error: unknown): error is CrawlError {
  return error instanceof CrawlError && LACK_OF_ROOM.has(error.code);
}

const LACK_OF_ROOM: ReadonlySet<ErrorCode> = new Set(["DISK_FULL", "DESCRIPTORS_USED_UP"]);

/**
 * An error that the operator of a crawl can fix. Any other error is a bug in Weir or in a hook.
 *
 * @example
 * import { crawl, CrawlError } from "weir";
 *
 * try {
 *   await crawl({ urls: ["https://example.org/"], outFolder: "weir-data/example.org" });
 * } catch (error) {
 *   if (!(error instanceof CrawlError)) throw error;
 *   console.error(`${error.message}\n${error.remedy} (${error.code})`);
 * }
 */
export class CrawlError extends Error {
  override readonly name = "CrawlError";
  readonly code: ErrorCode;
  /** What to do about it, in one or two sentences. */
  readonly remedy: string;

  constructor(code: ErrorCode, what: string, options?: ErrorOptions) {
    super(what, options);
    this.code = code;
    this.remedy = REMEDIES[code];
  }
}
