/**
 * The key by which archives sort URLs: the host from its top-level domain down, so that a domain and
 * all below it lie together. `https://www.Example.org:8080/A?b=2&a=1` is
 * `org,example:8080)/a?a=1&b=2`.
 *
 * "Sort-friendly URI Reordering Transform" is a family of habits, not a standard. These are the ones
 * of warcio and wabac, whose replay looks pages up by it: scheme, user, fragment and a leading `www.`
 * are gone, everything is in lower case, and the parts of the query are sorted.
 */

/** What is no http(s) URL is its own key. */
export function surtKey(url: string): string {
  const bare = url.toLowerCase().replace(/^(https?:\/\/)www\d*\./, "$1");
  if (!/^https?:/.test(bare) || !URL.canParse(bare)) return url;
  const { hostname, port, pathname, search } = new URL(bare);
  const host = hostname.split(".").toReversed().join(",");
  const query = search === "" ? "" : `?${search.slice(1).split("&").sort().join("&")}`;
  return `${host}${port === "" ? "" : `:${port}`})${pathname}${query}`;
}
