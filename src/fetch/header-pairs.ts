/** The header fields of a response as name and value, in the order in which they came. */

import type { Dispatcher } from "undici";
import type { HeaderField, TransportAnswer } from "./transport.ts";

/** HTTP/1.1 gives the very bytes, read as Latin-1 so that none is lost; HTTP/2 gives strings. */
export function headerPairs(
  raw: Dispatcher.DispatchController["rawHeaders"],
  parsed: Readonly<Record<string, string | string[] | undefined>>,
): TransportAnswer["headers"] {
  const pairs: HeaderField[] = [];
  if (Array.isArray(raw)) {
    for (let index = 0; index + 1 < raw.length; index += 2) {
      const written = latin1(raw[index]);
      const name = written.toLowerCase();
      const value = latin1(raw[index + 1]);
      pairs.push(name === written ? [name, value] : [name, value, written]);
    }
    return pairs;
  }
  for (const [name, value] of Object.entries(parsed))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) pairs.push([name, one]);
  return pairs;
}

function latin1(text: Buffer | string | undefined): string {
  return typeof text === "string" ? text : (text?.toString("latin1") ?? "");
}
