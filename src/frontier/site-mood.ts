/** What the end of a request says about its site: that it copes, is overloaded, fails, or cannot be reached. */

import type { NamedReason, Reason } from "../page/outcome.ts";

type SiteMood = "well" | "busy" | "failing" | "unreachable" | "nothing";

/** No request reached the server, so the URL has no part in it. */
const NOT_CONNECTED: readonly NamedReason[] = [
  "dns_timeout",
  "dns_error",
  "connect_refused",
  "connect_timeout",
  "connect_error",
  "tls_timeout",
  "proxy_error",
];

const UNREACHABLE: ReadonlySet<string> = new Set<NamedReason>([
  ...NOT_CONNECTED,
  "conn_reset",
  "tls_expired",
  "tls_name",
  "tls_untrusted",
  "tls_protocol",
  "tls_error",
]);

/** The server spoke, or at least listened: perhaps only this page is bad, so more of it is needed. */
const FAILING: ReadonlySet<string> = new Set<NamedReason>([
  "first_byte_timeout",
  "idle_timeout",
  "total_timeout",
  "too_slow",
  "header_too_large",
  "header_too_many",
  "bad_framing",
  "bad_status",
  "frame_flood",
  "response_desync",
  "body_short",
  "robots_unreachable",
]);

/** Our own trouble, or a request that never reached the site. */
const NOTHING: ReadonlySet<string> = new Set<NamedReason>([
  "local_resource",
  "internal_error",
  "dns_nxdomain",
  "robots_denied",
  "ssrf_blocked",
  "port_refused",
  "scheme_refused",
  "out_of_scope",
  "crawl_delay_excessive",
  "trap_budget",
  "elsewhere",
]);

export function whatItSays(reason: Reason): SiteMood {
  if (reason === "ok" || reason === "not_modified" || reason === "redirect") return "well";
  if (reason === "http_429" || reason === "http_503") return "busy";
  if (UNREACHABLE.has(reason)) return "unreachable";
  if (FAILING.has(reason) || reason.startsWith("http_5")) return "failing";
  return NOTHING.has(reason) ? "nothing" : "well";
}

/** Whether a failure can only be the site's, whatever URL was requested. */
export function isOfSite(reason: Reason): boolean {
  return (NOT_CONNECTED as readonly Reason[]).includes(reason);
}
