/**
 * Reads `<meta http-equiv="refresh">`: when to go where (HTML standard, 4.6.7.4, "shared
 * declarative refresh steps"). An absent address means the page itself, which is no link. Linear.
 */

export interface RefreshText {
  readonly delaySeconds: number;
  readonly target: string;
}

/** A longer wait is meant for a reader, not for a robot: it is no redirect. */
export const REFRESH_DELAY_SECONDS_MAX = 60;

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

/** Up to the quote that closes the one it begins with, if it does. */
function unquoted(text: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text;
  const close = text.indexOf(quote, 1);
  return text.slice(1, close === -1 ? undefined : close);
}
