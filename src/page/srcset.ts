/**
 * The URLs of the images in a srcset, in order (HTML standard, 4.8.4.2.2). The descriptors after a URL, its
 * width or density, are skipped; parentheses in them hide commas. Linear.
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

/** Index of the comma that ends the descriptors, or the end of the text. */
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
