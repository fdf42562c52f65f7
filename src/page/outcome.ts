/**
 * Every way a URL can end: one reason of a closed list, and what that makes of the URL.
 *
 * A site failing is ordinary, so it is a value. `done` was answered, `failed` was tried and did not
 * come, `skipped` was never asked for by our own decision. HTTP errors are `http_404` and so on.
 */

export type Settlement = "done" | "failed" | "skipped";

export const REASONS = {
  ok: "done",
  not_modified: "done",
  redirect: "done",
  // Fetched here, and handed to the process that owns what it is about.
  exported: "done",
  // Another's, fetched to see whether there is a page, and not kept.
  sampled: "done",

  dns_nxdomain: "failed",
  dns_timeout: "failed",
  dns_error: "failed",
  connect_refused: "failed",
  connect_timeout: "failed",
  connect_error: "failed",
  conn_reset: "failed",
  tls_expired: "failed",
  tls_name: "failed",
  tls_untrusted: "failed",
  tls_protocol: "failed",
  tls_timeout: "failed",
  tls_error: "failed",
  proxy_error: "failed",
  local_resource: "failed",
  first_byte_timeout: "failed",
  idle_timeout: "failed",
  total_timeout: "failed",
  too_slow: "failed",
  header_too_large: "failed",
  header_too_many: "failed",
  bad_framing: "failed",
  bad_status: "failed",
  bad_partial: "failed",
  response_desync: "failed",
  body_short: "failed",
  body_too_large: "failed",
  bad_encoding: "failed",
  auth_required: "failed",
  bad_redirect: "failed",
  redirect_loop: "failed",
  redirect_limit: "failed",
  robots_unreachable: "failed",
  host_unavailable: "failed",
  internal_error: "failed",

  robots_denied: "skipped",
  ssrf_blocked: "skipped",
  port_refused: "skipped",
  scheme_refused: "skipped",
  out_of_scope: "skipped",
  crawl_delay_excessive: "skipped",
  type_unwanted: "skipped",
  trap_budget: "skipped",
  // Another process's: told to it now, dealt with by it already, or waiting there and no longer here.
  sent: "skipped",
  elsewhere: "skipped",
  moved_away: "skipped",
} as const satisfies Record<string, Settlement>;

export type NamedReason = keyof typeof REASONS;
export type Reason = NamedReason | `http_${number}`;

/** These say no more than that another process has the URL, where it counts. */
export const ANOTHERS: readonly Reason[] = ["sent", "elsewhere", "moved_away"];

/** Reasons a transport can give: what went wrong between us and a server. */
export type TransportFailure = Extract<
  NamedReason,
  | "connect_refused"
  | "connect_timeout"
  | "connect_error"
  | "conn_reset"
  | "tls_expired"
  | "tls_name"
  | "tls_untrusted"
  | "tls_protocol"
  | "tls_timeout"
  | "tls_error"
  | "proxy_error"
  | "local_resource"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  | "too_slow"
  | "header_too_large"
  | "header_too_many"
  | "bad_framing"
  | "bad_status"
  | "response_desync"
  | "body_short"
  | "internal_error"
>;

const WORTH_ANOTHER_TRY: ReadonlySet<string> = new Set([
  "dns_timeout",
  "dns_error",
  "connect_refused",
  "connect_timeout",
  "connect_error",
  "conn_reset",
  "tls_timeout",
  "proxy_error",
  "local_resource",
  "first_byte_timeout",
  "idle_timeout",
  "total_timeout",
  "too_slow",
  "body_short",
  "response_desync",
  "http_408",
  "http_425",
  "http_429",
  "http_500",
  "http_502",
  "http_503",
  "http_504",
]);

export function settlementOf(reason: Reason): Settlement {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as NamedReason] : "failed";
}

export function isAnothers(reason: Reason | undefined): boolean {
  return reason !== undefined && ANOTHERS.includes(reason);
}

/** URLs that a rule refused; those that belong to another process do not count. */
export function refusedByRules(outcomes: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const [name, count] of Object.entries(outcomes)) {
    const reason = name as Reason;
    if (settlementOf(reason) === "skipped" && !isAnothers(reason)) sum += count;
  }
  return sum;
}

export function couldRetryHelp(reason: Reason): boolean {
  return WORTH_ANOTHER_TRY.has(reason);
}
