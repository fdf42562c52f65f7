/**
 * Takes out of a URL what names the visit and not the page.
 *
 * A site that writes a new session id into every link makes each page look new for ever. The table
 * holds the names that web frameworks and campaign trackers are known to use. Names that also mean
 * other things (`sid` may be a station) count only when their value looks like a token: 16 or more
 * letters and digits, with a digit among them. Applying the rules twice changes nothing more.
 */

/** Always a session or a campaign, whatever the value. */
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
/** Only with a value that looks like a token. */
const NAMES_WITH_TOKEN = new Set(["sid", "s", "session", "sess", "sessid"]);
const TOKEN = /^(?=[a-z]*\d)[a-z\d]{16,}$/i;
/** ASP.NET without cookies: a whole segment, `/(S(lit3py55t21z5v55vlm25s55))/`. */
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

/**
 * Drops parameters behind semicolons; not when that would leave a dot segment, which means more.
 */
function cleanSegment(segment: string): string {
  if (!segment.includes(";")) return segment;
  const [name = "", ...parameters] = segment.split(";");
  const kept = parameters.filter((parameter) => !namesVisit(parameter));
  if (kept.length === 0 && (name === "." || name === "..")) return segment;
  return [name, ...kept].join(";");
}

function cleanQuery(query: string): string {
  if (query === "") return query;
  const parts = query.slice(1).split("&");
  const kept = parts.filter((part) => !namesVisit(part));
  if (kept.length === parts.length) return query;
  return kept.length === 0 || kept.join("&") === "" ? "" : `?${kept.join("&")}`;
}

function namesVisit(parameter: string): boolean {
  const equals = parameter.indexOf("=");
  if (equals === -1) return false;
  const name = parameter.slice(0, equals).toLowerCase();
  if (NAMES.has(name) || NAME_PREFIXES.some((prefix) => name.startsWith(prefix))) return true;
  return NAMES_WITH_TOKEN.has(name) && TOKEN.test(parameter.slice(equals + 1));
}
