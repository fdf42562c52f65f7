/**
 * Reads `<meta http-equiv="refresh">`: the delay and the target (HTML standard, 4.6.7.4, "shared
 * declarative refresh steps"). Without a URL the target is the page itself, which is not a link. Linear.
 */

interface RefreshText {
  readonly delaySeconds: number;
  readonly target: string;
}

/** A longer delay is meant for readers and does not count as a redirect. */
const REFRESH_DELAY_SECONDS_MAX = 60;

const SHAPE = /^[\t\n\f\r ]*(\d*)(\.[\d.]*)?(?:[\t\n\f\r ]*[;,]|[\t\n\f\r ])[\t\n\f\r ]*/;
const URL_EQUALS = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i;

export function readRefresh(content: string): RefreshText | undefined {
  const shape = SHAPE.exec(content);
  if (shape === null || (shape[1] === "" && shape[2] === undefined)) return undefined;
  const rest = content.slice(shape[0].length);
  const target = unquoted(rest.replace(URL_EQUALS, ""));
  const delaySeconds = Number(shape[1] === "" ? 0 : shape[1]);
  if (target === "" || delaySeconds > REFRESH_DELAY_SECONDS_MAX) return undefined;
  return { delaySeconds, target };
}

/** The text inside the quotes, if it begins with one. */
function unquoted(text: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text;
  const close = text.indexOf(quote, 1);
  return text.slice(1, close === -1 ? undefined : close);
}
