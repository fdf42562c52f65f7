/**
 * The meaning of each outcome, in a sentence for users; a test checks every one of the closed list.
 */

const WORDS: Readonly<Record<string, string>> = {
  ok: "The server answered, and the page was stored.",
  not_modified: "The server reports no change since the last visit.",
  redirect: "A redirect to another URL, which was checked like any other.",
  exported: "Fetched, and sent to the process that owns its content.",
  sampled: "Fetched to estimate the coverage, and not stored; another process owns it.",
  dns_nxdomain: "The host name does not exist.",
  dns_timeout: "No name server gave an answer within 10 s, or all of them failed.",
  dns_error: "The DNS answer for this name was garbled or held no address.",
  connect_refused: "The server refused the connection.",
  connect_timeout: "The connection timed out.",
  connect_error: "The connection failed.",
  conn_reset: "The server reset the connection.",
  tls_expired: "The certificate has expired or is not yet valid.",
  tls_name: "The certificate is for another name.",
  tls_untrusted: "The certificate is not signed by a trusted authority.",
  tls_protocol: "No common TLS version or cipher.",
  tls_timeout: "The TLS handshake timed out.",
  tls_error: "The TLS handshake failed.",
  proxy_error: "The proxy could not or would not forward the request.",
  local_resource: "This machine ran out of ports, files or memory.",
  first_byte_timeout: "The response did not start in time.",
  idle_timeout: "The response paused for too long.",
  total_timeout: "The request took too long in total.",
  too_slow: "The response was slower than the speed floor.",
  header_too_large: "The response headers were too large.",
  header_too_many: "The response had too many headers.",
  bad_framing: "The end of the response could not be determined.",
  bad_status: "The response had no valid status.",
  bad_partial: "The server sent a partial response that was not requested.",
  frame_flood: "The server sent more than 1 MiB of HTTP/2 frames that belong to no response.",
  response_desync: "A response arrived that belonged to no request.",
  body_short: "The response ended too early.",
  body_too_large: "The body exceeded the size limit.",
  bad_encoding: "The body could not be decompressed.",
  auth_required: "The server requires a user name and a password.",
  bad_redirect: "A redirect without a valid target.",
  redirect_loop: "The redirects form a loop.",
  redirect_limit: "Too many redirects in a row.",
  robots_unreachable: "The site's robots.txt could not be read, so no request is permitted.",
  internal_error: "A bug in Weir; the log has details.",
  robots_denied: "The site's robots.txt forbids it.",
  ssrf_blocked:
    "Its host name resolves to a private address; --allow-private permits such addresses.",
  port_refused: "The port belongs to another kind of service.",
  scheme_refused: "Neither http nor https.",
  out_of_scope: "A redirect left the scope of the crawl.",
  crawl_delay_excessive: "The Crawl-delay in robots.txt is longer than Weir accepts.",
  type_unwanted: "The media type was excluded by --accept-types.",
  trap_useless:
    "All pages requested from URLs of its form were copies or not to be indexed; --traps off requests it.",
  trap_budget: "Its part of the site seems endless and has used up its budget.",
  sent: "Owned by another process, and sent there.",
  elsewhere: "Owned by another process, which has settled it.",
  moved_away: "Now pending at another process.",
};

const STATUS_WORDS: Readonly<Record<string, string>> = {
  http_400: "The server rejected the request as invalid (400).",
  http_401: "The server requires a user name and a password (401).",
  http_403: "The server forbids it (403).",
  http_404: "There is no such page (404).",
  http_410: "The page is gone for good (410).",
  http_429: "Too many requests, even after waiting (429).",
  http_500: "Internal error of the server (500).",
  http_502: "The server behind the server failed (502).",
  http_503: "The server is overloaded or in maintenance (503).",
  http_504: "The server behind the server took too long (504).",
};

export function meaningOf(reason: string): string {
  if (Object.hasOwn(WORDS, reason)) return WORDS[reason] ?? "";
  if (Object.hasOwn(STATUS_WORDS, reason)) return STATUS_WORDS[reason] ?? "";
  const status = /^http_(\d{3})$/.exec(reason)?.[1];
  if (status === undefined) return "";
  return status < "500" ? `The server refused (${status}).` : `The server failed (${status}).`;
}
