/**
 * Keeps user names and passwords out of what is written or shown.
 *
 * Canonical URLs never hold any (`url.ts`). These functions are for text that did not become a canonical
 * URL: what an operator typed, or a Location header that leads nowhere.
 */

/** One value: a URL without its user name and password, other text without what precedes its last `@`. */
export function withoutCredentials(text: string): string {
  if (!text.includes("@")) return text;
  const url = URL.parse(text);
  // No URL, or one like `user:password@host`, whose scheme is in truth a user name.
  if (url === null || url.host === "") return text.replace(/^\S(?:.*\S)?@/s, "…@");
  if (!hasCredentials(url)) return text;
  url.username = "";
  url.password = "";
  return url.href;
}

/** What a URL says of its user, decoded; undefined where it says nothing. */
export function credentialsOf(
  text: string,
): { readonly user: string; readonly password: string } | undefined {
  const url = URL.parse(text);
  if (url === null || !hasCredentials(url)) return undefined;
  return { user: decoded(url.username), password: decoded(url.password) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function hasCredentials(url: URL): boolean {
  return url.username !== "" || url.password !== "";
}
