/**
 * Computes the key by which archives sort URLs: the host from its top-level domain down, so that a domain
 * and its subdomains are adjacent. `https://www.Example.org:8080/A?b=2&a=1` becomes
 * `org,example:8080)/a?a=1&b=2`.
 *
 * The "Sort-friendly URI Reordering Transform" has variants and no standard. This is the variant of
 * warcio and wabac, whose replay searches pages by it: without scheme, user, fragment and leading
 * `www.`, in lower case, with the parts of the query sorted.
 */

/** A URL with another scheme than http(s) is its own key. */
export function surtKey(url: string): string {
  const bare = url.toLowerCase().replace(/^(https?:\/\/)www\d*\./, "$1");
  if (!/^https?:/.test(bare) || !URL.canParse(bare)) return url;
  const { hostname, port, pathname, search } = new URL(bare);
  const host = hostname.split(".").toReversed().join(",");
  const query = search === "" ? "" : `?${search.slice(1).split("&").sort().join("&")}`;
  return `${host}${port === "" ? "" : `:${port}`})${pathname}${query}`;
}
