/** Inputs that once broke a promise, minimised by the fuzzer. */

import type { FoundInput } from "./target.ts";

export const FOUND: readonly FoundInput[] = [];
