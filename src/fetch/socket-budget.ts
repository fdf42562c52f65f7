/**
 * Divides the file descriptors that are left among requests, kept connections and DNS questions.
 *
 * Files come first: a crawl without a database is none, and one with few connections is only slow.
 */

import { DESCRIPTORS_PER_QUESTION } from "./dns-question.ts";

export interface SocketBudget {
  /** Requests at the same time. */
  readonly connectionsMax: number;
  /** Connections, including those kept between requests. */
  readonly lanesMax: number;
  /** DNS questions at the same time. */
  readonly lookupsMax: number;
}

/** What every crawl opens: 18 for its databases, archive, history and their threads, and 2 for brief reads. */
const FILES_LEAST = 20;
/** With a search index, a dashboard and all threads; 34 were open at once, and two threads came on top. */
const FILES_USUAL = 48;
/** One connection, and one DNS question in its first attempt. */
const SOCKETS_LEAST = 2;
const DNS_SHARE = 1 / 4;

/** Descriptors without which no crawl begins. */
export const DESCRIPTORS_LEAST = FILES_LEAST + SOCKETS_LEAST;

/** `wanted` is what there would be without a limit, `free` the descriptors not open yet: at least `DESCRIPTORS_LEAST`. */
export function socketBudget(wanted: SocketBudget, free: number): SocketBudget {
  // Most crawls do not need the whole reserve, so a low limit is halved between files and sockets.
  const sockets = Math.max(free - FILES_USUAL, SOCKETS_LEAST, (free - FILES_LEAST) / 2);
  const questions = Math.floor((sockets * DNS_SHARE) / DESCRIPTORS_PER_QUESTION);
  const lookupsMax = Math.max(1, Math.min(wanted.lookupsMax, questions));
  const rest = Math.max(1, Math.floor(sockets) - lookupsMax * DESCRIPTORS_PER_QUESTION);
  return {
    lookupsMax,
    lanesMax: Math.min(wanted.lanesMax, rest),
    connectionsMax: Math.min(wanted.connectionsMax, rest),
  };
}
