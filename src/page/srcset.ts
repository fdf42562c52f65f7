/**
 * The addresses of the images that a srcset offers, in order (HTML standard, 4.8.4.2.2). What
 * follows an address, its width or density, is stepped over; parentheses in it hide commas. Linear.
 */

const SPACES = /[\t\n\f\r ]/;

export function* srcsetTargets(srcset: string): Generator<string> {
  let at = 0;
  for (;;) {
    while (at < srcset.length && /[\t\n\f\r ,]/.test(srcset.charAt(at))) at += 1;
    if (at >= srcset.length) return;
    const start = at;
    while (at < srcset.length && !SPACES.test(srcset.charAt(at))) at += 1;
    let end = at;
    while (srcset.charAt(end - 1) === ",") end -= 1;
    yield srcset.slice(start, end);
    if (end === at) at = descriptorsEnd(srcset, at);
  }
}

/** On the comma that ends the descriptors, or at the end. */
function descriptorsEnd(srcset: string, from: number): number {
  let isInside = false;
  for (let at = from; at < srcset.length; at++) {
    const character = srcset.charAt(at);
    if (character === "(") isInside = true;
    else if (character === ")") isInside = false;
    else if (character === "," && !isInside) return at;
  }
  return srcset.length;
}
