/** What each reason means, in a sentence for people; a test asks for every reason of the closed list. */

const WORDS: Readonly<Record<string, string>> = {
  ok: "Answered, and kept.",
  not_modified: "The server says it has not changed since the last visit.",
  redirect: "Led to another address, which was judged anew.",
  exported: "Answered, and handed to the process that owns its content.",
  sampled: "Answered, and not kept: another process's, fetched to estimate what is missed.",
  dns_nxdomain: "Its name does not exist.",
  dns_timeout: "Nobody answered when its name was looked up.",
  dns_error: "Its name could not be looked up.",
  connect_refused: "The server refused the connection.",
  connect_timeout: "No connection came about in time.",
  connect_error: "No connection came about.",
  conn_reset: "The server broke the connection off.",
  tls_expired: "Its certificate has run out, or does not hold yet.",
  tls_name: "Its certificate is for another name.",
  tls_untrusted: "Nobody we trust vouches for its certificate.",
  tls_protocol: "It speaks no TLS that we do.",
  tls_timeout: "The TLS handshake took too long.",
  tls_error: "The TLS handshake failed.",
  proxy_error: "The proxy could not or would not pass it on.",
  local_resource: "This machine ran out of something: ports, files or memory.",
  first_byte_timeout: "The answer did not begin in time.",
  idle_timeout: "The answer stood still for too long.",
  total_timeout: "The answer took too long in all.",
  too_slow: "The answer came slower than the speed floor allows.",
  header_too_large: "The head of its answer was too large.",
  header_too_many: "The head of its answer had too many fields.",
  bad_framing: "Where its answer ends could not be told.",
  bad_status: "Its answer began with no status that there is.",
  bad_partial: "It answered with a part that nobody had asked for.",
  response_desync: "An answer came that belonged to no question.",
  body_short: "The answer broke off before its end.",
  body_too_large: "The answer was larger than is accepted.",
  bad_encoding: "The answer could not be unpacked.",
  auth_required: "It asks for a name and a password.",
  bad_redirect: "It leads elsewhere without saying where.",
  redirect_loop: "Its redirects lead back to themselves.",
  redirect_limit: "Too many redirects in a row.",
  robots_unreachable: "The site's robots.txt could not be had, so nothing may be asked.",
  host_unavailable: "The host was given up after failing again and again.",
  internal_error: "A mistake of our own; the log has more.",
  robots_denied: "The site's robots.txt asks crawlers not to fetch it.",
  ssrf_blocked: "It leads to a private address of this network; --allow-private would let it.",
  port_refused: "On a port that belongs to another kind of service.",
  scheme_refused: "Neither http nor https.",
  out_of_scope: "A redirect led out of what this crawl is about.",
  crawl_delay_excessive: "Its robots.txt asks for longer waits than we are ready to make.",
  type_unwanted: "Of a type that was not asked for.",
  trap_budget: "Its part of the site grows without end, and has had its share.",
  sent: "Belongs to another process, and was sent there.",
  elsewhere: "Belongs to another process, which has dealt with it.",
  moved_away: "Now waits at another process.",
};

const STATUS_WORDS: Readonly<Record<string, string>> = {
  http_400: "The server did not understand the question (400).",
  http_401: "It asks for a name and a password (401).",
  http_403: "The server forbids it (403).",
  http_404: "There is no such page (404).",
  http_410: "The page is gone for good (410).",
  http_429: "Asked too often, even after waiting (429).",
  http_500: "The server made a mistake (500).",
  http_502: "The server's own source did not answer (502).",
  http_503: "The server is busy or being mended (503).",
  http_504: "The server's own source took too long (504).",
};

export function meaningOf(reason: string): string {
  if (Object.hasOwn(WORDS, reason)) return WORDS[reason] ?? "";
  if (Object.hasOwn(STATUS_WORDS, reason)) return STATUS_WORDS[reason] ?? "";
  const status = /^http_(\d{3})$/.exec(reason)?.[1];
  if (status === undefined) return "";
  return status < "500" ? `The server refused (${status}).` : `The server failed (${status}).`;
}
