/**
 * Messages between a supervisor and its processes beside the bus: the job at the start, log entries, the result at the
 * end. They use Node's own channel, which loses nothing while both processes live.
 */

import type { LogEntry, LogLevel } from "../../base/log.ts";
import type { ErrorCode } from "../../base/errors.ts";
import type { CrawlResult } from "../../control/snapshot.ts";
import type { Settings } from "../../config/schema.ts";
import type { Spellings } from "../../config/seeds.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import type { WrittenDivision } from "../division-codec.ts";

export interface Job {
  readonly name: string;
  /** Number of processes. */
  readonly size: number;
  readonly settings: Settings;
  /** All seeds, which define the scope, and those that this process begins with. */
  readonly seeds: readonly CanonicalUrl[];
  readonly ownSeeds: readonly CanonicalUrl[];
  readonly spellings: Spellings;
  readonly folder: string;
  /** Entries below this level are not logged. */
  readonly leastLogged: LogLevel;
  /** null for processes that are independent of each other. */
  readonly division: WrittenDivision | null;
}

export type ChannelMessage =
  | { readonly weir: "ready" }
  | { readonly weir: "job"; readonly job: Job }
  | { readonly weir: "log"; readonly entries: readonly LogEntry[] }
  | { readonly weir: "result"; readonly result: CrawlResult }
  | {
      readonly weir: "refused";
      readonly code: ErrorCode;
      readonly message: string;
    }
  | { readonly weir: "fault"; readonly message: string };

export function channelMessageIn(message: unknown): ChannelMessage | undefined {
  const isWord = typeof message === "object" && message !== null && "weir" in message;
  return isWord ? (message as ChannelMessage) : undefined;
}
