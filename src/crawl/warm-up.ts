/**
 * Has the crawl's own code become fast sooner.
 *
 * V8 compiles a function well once it knows how it is used, and begins to look at that only when the function has been
 * called for a while, which saves memory where little runs for long. A crawl calls all it has for hours; and at
 * 50 MB/s in small pages its thread was too slow for the limit in the first four seconds.
 *
 * Only programs that are ours do this: a flag holds for the whole process.
 */

import { setFlagsFromString } from "node:v8";

export function warmUpSoon(): void {
  setFlagsFromString("--no-lazy-feedback-allocation");
}
