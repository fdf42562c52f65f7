/**
 * All outcomes of a URL: one reason from a closed list, and the state it gives the URL.
 *
 * Failures of sites are expected, so they are values. `done` was answered, `failed` was tried without
 * an answer that counts, `skipped` was never requested. HTTP errors are `http_404` and so on.
 */

export type Settlement = "done" | "failed" | "skipped";

export const REASONS = {
  ok: "done",
  not_modified: "done",
  redirect: "done",
  // Fetched here, and handed to the process that owns the page's topic.
  exported: "done",
  // Owned by another process; fetched to see whether there is a page, and not stored.
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
  frame_flood: "failed",
  response_desync: "failed",
  body_short: "failed",
  body_too_large: "failed",
  bad_encoding: "failed",
  auth_required: "failed",
  bad_redirect: "failed",
  redirect_loop: "failed",
  redirect_limit: "failed",
  robots_unreachable: "failed",
  internal_error: "failed",

  robots_denied: "skipped",
  ssrf_blocked: "skipped",
  port_refused: "skipped",
  scheme_refused: "skipped",
  out_of_scope: "skipped",
  crawl_delay_excessive: "skipped",
  type_unwanted: "skipped",
  trap_budget: "skipped",
  // Of a shape whose pages have all been worthless.
  trap_useless: "skipped",
  // Owned by another process: sent to it now, handled by it already, or queued there instead of here.
  sent: "skipped",
  elsewhere: "skipped",
  moved_away: "skipped",
} as const satisfies Record<string, Settlement>;

export type NamedReason = keyof typeof REASONS;
export type Reason = NamedReason | `http_${number}`;

/** Reasons of URLs that another process owns and counts. */
export const OWNED_ELSEWHERE: readonly Reason[] = ["sent", "elsewhere", "moved_away"];

/** Reasons of a transport: failures of a connection or of a response's framing. */
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
  | "frame_flood"
  | "response_desync"
  | "body_short"
  | "internal_error"
>;

const RETRYABLE: ReadonlySet<string> = new Set([
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

export function isOwnedElsewhere(reason: Reason | undefined): boolean {
  return reason !== undefined && OWNED_ELSEWHERE.includes(reason);
}

/** URLs that a rule refused; those that belong to another process do not count. */
export function refusedByRules(outcomes: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const [name, count] of Object.entries(outcomes)) {
    const reason = name as Reason;
    if (settlementOf(reason) === "skipped" && !isOwnedElsewhere(reason)) sum += count;
  }
  return sum;
}

export function isRetryable(reason: Reason): boolean {
  return RETRYABLE.has(reason);
}
