/**
 * Several processes as one crawl, started from a program.
 *
 *   node examples/06-processes.ts https://example.org/ https://example.net/ --contact you@example.org --out weir-data/two
 *
 * Functions cannot be handed to other processes, so several of them are the program's affair: it is started with
 * `--procs`, and its result is one JSON object, with what the processes cost together. On several machines it is
 * `--nats` here and `weir node` there (docs/cluster.md); this program would not change.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { CrawlResult } from "../src/index.ts";

const WEIR = fileURLToPath(new URL("../weir", import.meta.url));
const WORDS = ["crawl", ...process.argv.slice(2), "--procs", "2", "--json", "--quiet"];

const program = spawn(WEIR, WORDS, { stdio: ["ignore", "pipe", "inherit"] });
const [told, [code]] = await Promise.all([text(program.stdout), once(program, "close")]);
if (code !== 0 && code !== 3) throw new Error(`weir ended with ${String(code)}`);

const { pages, parallel } = JSON.parse(told) as CrawlResult;
console.log(`${pages} pages by ${parallel?.procs} processes`);
console.log(`overlap ${parallel?.overlap}, URLs sent per page ${parallel?.communicationOverhead}`);
