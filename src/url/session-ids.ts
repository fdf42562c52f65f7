/**
 * Removes parameters that identify a visit instead of a page from a URL.
 *
 * A site that writes a new session id into every link makes each page look new for ever. The table
 * holds the names that web frameworks and campaign trackers are known to use. Names with other meanings
 * (`sid` may be a station) count only if their value looks like a token: 16 or more letters and digits,
 * with at least one digit. Applying the rules twice changes nothing more.
 */

/** Names of sessions and campaigns, for any value. */
const NAMES = new Set([
  "jsessionid", // Java servlets
  "phpsessid", // PHP
  "sessionid",
  "session_id",
  "cfid", // ColdFusion
  "cftoken",
  "oscsid", // osCommerce
  "zenid", // Zen Cart
  "gclid", // click ids of advertisers
  "fbclid",
  "msclkid",
]);
const NAME_PREFIXES = ["aspsessionid", "utm_"];
/** Names that count only with a value that looks like a token. */
const NAMES_WITH_TOKEN = new Set(["sid", "s", "session", "sess", "sessid"]);
const TOKEN = /^(?=[a-z]*\d)[a-z\d]{16,}$/i;
/** ASP.NET without cookies: a whole path segment, `/(S(lit3py55t21z5v55vlm25s55))/`. */
const ASP_SEGMENT = /^(?:\([asf]\([a-z\d_-]*\)\)|\((?:[asf]\([a-z\d_-]*\))+\))$/i;

export function withoutSessionIds(path: string, query: string): { path: string; query: string } {
  return { path: cleanPath(path), query: cleanQuery(query) };
}

function cleanPath(path: string): string {
  if (!path.includes(";") && !path.includes("(")) return path;
  const segments = path.split("/").map(cleanSegment);
  const cleaned = segments.filter((segment) => !ASP_SEGMENT.test(segment)).join("/");
  return cleaned.startsWith("/") ? cleaned : `/${cleaned}`;
}

/** Drops parameters after semicolons, unless that would leave a dot segment, which has a meaning of its own. */
function cleanSegment(segment: string): string {
  if (!segment.includes(";")) return segment;
  const [name = "", ...parameters] = segment.split(";");
  const kept = parameters.filter((parameter) => !identifiesVisit(parameter));
  if (kept.length === 0 && (name === "." || name === "..")) return segment;
  return [name, ...kept].join(";");
}

function cleanQuery(query: string): string {
  if (query === "") return query;
  const parts = query.slice(1).split("&");
  const kept = parts.filter((part) => !identifiesVisit(part));
  if (kept.length === parts.length) return query;
  return kept.length === 0 || kept.join("&") === "" ? "" : `?${kept.join("&")}`;
}

function identifiesVisit(parameter: string): boolean {
  const equals = parameter.indexOf("=");
  if (equals === -1) return false;
  const name = parameter.slice(0, equals).toLowerCase();
  if (NAMES.has(name) || NAME_PREFIXES.some((prefix) => name.startsWith(prefix))) return true;
  return NAMES_WITH_TOKEN.has(name) && TOKEN.test(parameter.slice(equals + 1));
}
