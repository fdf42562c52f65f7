/**
 * Finds the command, runs it, and turns errors into messages and exit codes.
 *
 * Commands are loaded on request: `weir --help` must not wait for a database, nor a crawl for the
 * exporters.
 */

import { descriptorShortage } from "../base/descriptors.ts";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { suggestion } from "../config/nearest.ts";
import { VERSION } from "../config/version.ts";
import { withoutCredentials } from "../url/credentials.ts";
import { EXIT, exitCodeOf, type ExitCode } from "./exit-codes.ts";
import { type Command, commandHelp, generalHelp } from "./help.ts";

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** In the order of the help; the reference is generated from it too. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  demo: {
    summary: "Crawl a small web on this machine; no network needed",
    load: () => import("./commands/demo.ts"),
  },
  crawl: {
    summary: "Crawl sites; run again to resume",
    load: () => import("./commands/crawl.ts"),
  },
  node: {
    summary: "Join a cluster as a crawling process",
    load: () => import("./commands/node.ts"),
  },
  plan: {
    summary: "Preview the schedule and which deadlines can be met",
    load: () => import("./commands/plan.ts"),
  },
  status: {
    summary: "Show the state of a crawl, running or not",
    load: () => import("./commands/status.ts"),
  },
  serve: {
    summary: "Serve a dashboard of a crawl, running or not",
    load: () => import("./commands/serve.ts"),
  },
  report: {
    summary: "Write a one-page report of a crawl",
    load: () => import("./commands/report.ts"),
  },
  set: {
    summary: "Change a setting of a running crawl",
    load: () => import("./commands/set.ts"),
  },
  export: {
    summary: "Export the pages of a crawl",
    load: () => import("./commands/export.ts"),
  },
  check: {
    summary: "Verify the collection of a crawl, or WARC files",
    load: () => import("./commands/check.ts"),
  },
  search: {
    summary: "Search the pages of a crawl",
    load: () => import("./commands/search.ts"),
  },
  topics: {
    summary: "Train, test and use a page classifier",
    load: () => import("./commands/topics.ts"),
  },
  lab: {
    summary: "Repeat the papers' experiments, in virtual time",
    load: () => import("./commands/lab.ts"),
  },
};

const VERSION_WORDS: ReadonlySet<string> = new Set(["version", "--version", "-v", "-V"]);

export async function main(words: readonly string[]): Promise<void> {
  // A reader that closes early (`weir … | head`) ends the program without an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? EXIT.stopped : EXIT.failed);
  });
  // The runtime's warnings, for example of experimental modules, are not for users.
  if (!words.includes("--verbose")) process.removeAllListeners("warning");
  try {
    process.exitCode = await dispatch(words);
  } catch (error) {
    process.exitCode = report(error, words.includes("--verbose"));
  }
}

async function dispatch(words: readonly string[]): Promise<ExitCode> {
  const [name, ...rest] = words;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    const asked = name === "help" ? rest[0] : undefined;
    if (asked !== undefined) return dispatch([asked, "--help", ...rest.slice(1)]);
    process.stdout.write(generalHelp(summaries()));
    return name === undefined ? EXIT.usage : EXIT.done;
  }
  if (VERSION_WORDS.has(name)) {
    process.stdout.write(`weir ${VERSION}\n`);
    return EXIT.done;
  }
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) throw new CrawlError("USAGE", unknown(name));
  const { command } = await entry.load();
  const help = indexOfHelp(rest);
  if (help >= 0) {
    const topic = rest[help + 1]?.startsWith("-") === true ? undefined : rest[help + 1];
    process.stdout.write(commandHelp(command.page, { topic, columns: process.stdout.columns }));
    return EXIT.done;
  }
  return command.run(rest);
}

function indexOfHelp(words: readonly string[]): number {
  const end = words.indexOf("--");
  return words
    .slice(0, end < 0 ? undefined : end)
    .findIndex((word) => word === "--help" || word === "-h");
}

function unknown(name: string): string {
  const hint = suggestion(name, Object.keys(COMMANDS));
  const address = /^https?:\/\//.test(name)
    ? `; did you mean weir crawl ${visible(name, 200)}?`
    : "";
  return `There is no command ${JSON.stringify(visible(withoutCredentials(name), 80))}${hint || address}`;
}

function summaries(): [name: string, summary: string][] {
  return Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary]);
}

function report(thrown: unknown, isVerbose: boolean): ExitCode {
  // The first error: failures during cleanup are its consequences.
  if (thrown instanceof SuppressedError) return report(thrown.suppressed, isVerbose);
  const error = descriptorShortage(thrown) ?? thrown;
  if (error instanceof CrawlError) {
    const lines = error.message.split("\n").map((line) => visible(line, 2000));
    process.stderr.write(`weir: ${lines.join("\n")}\n  ${error.remedy} (${error.code})\n`);
    if (isVerbose && error.cause !== undefined) process.stderr.write(`${stackOf(error.cause)}\n`);
    return exitCodeOf(error.code);
  }
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  process.stderr.write(
    `weir: internal error, a bug in Weir: ${visible(what, 500)}\n` +
      (isVerbose ? `${stackOf(error)}\n` : "  Run it again with --verbose for a stack trace.\n") +
      "  Stored data is safe; the same command resumes.\n",
  );
  return EXIT.failed;
}

function stackOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return stack
    .split("\n")
    .map((line) => visible(line, 500))
    .join("\n");
}
