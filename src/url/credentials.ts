/**
 * Removes user names and passwords from text that is written or shown.
 *
 * Canonical URLs never contain any (`url.ts`). These functions are for other text: an operator's input, or an
 * invalid Location header.
 */

/** Removes the user name and password of a URL, and everything before the last `@` of other text. */
export function withoutCredentials(text: string): string {
  if (!text.includes("@")) return text;
  const url = URL.parse(text);
  // Not a URL, or one like `user:password@host`, whose scheme is actually a user name.
  if (url === null || url.host === "") return text.replace(/^\S(?:.*\S)?@/s, "…@");
  if (!hasCredentials(url)) return text;
  url.username = "";
  url.password = "";
  return url.href;
}

/** The user name and password of a URL, decoded; undefined if it has neither. */
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
