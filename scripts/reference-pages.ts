/**
 * Three pages of the reference, made from what the program itself says: its commands from their help
 * texts, its metrics and its reasons from their tables.
 */

import { markdownTable } from "../src/cli/row-table.ts";
import { COMMANDS } from "../src/cli/run.ts";
import { GROUPS } from "../src/config/schema.ts";
import { metricsOf } from "../src/dashboard/metrics.ts";
import { meaningOf } from "../src/dashboard/reason-words.ts";
import { sampleLook } from "../src/dashboard/sample.suite.ts";
import { isRetryable, type NamedReason, REASONS } from "../src/page/outcome.ts";

/** Labels with more values than this are told by their number. */
const VALUES_SHOWN_MAX = 10;

export async function commandsPage(made: string): Promise<string> {
  const parts = [
    "# Commands",
    made,
    "What can be typed, as `weir COMMAND --help` says it. In a checkout it is `./weir`. The flags of `weir crawl` are\n" +
      "described one by one in [settings.md](settings.md); each is also a key of a file and a variable.\n" +
      "Exit codes: 0 done; 1 the job failed; 2 wrong usage or settings; 3 stopped with work left; 130 quit by a second Ctrl-C.",
  ];
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const { command } = await load();
    parts.push(`## \`weir ${name}\``, `${summary}.`, ...commandParts(command.help()));
  }
  return page(parts);
}

/** What it is about in words, examples as they are typed, and the rest as the terminal shows it. */
function commandParts(help: string): string[] {
  const blocks = help.trimEnd().split("\n\n");
  const [usage = "", about = "", examples = "", ...rest] = blocks;
  const flags = rest.filter((block) => !Object.hasOwn(GROUPS, titleOf(block)));
  const hidden = rest.length - flags.length;
  const shown = [usage, ...flags].join("\n\n");
  return [
    about.replaceAll("\n", " "),
    `\`\`\`sh\n${examplesIn(examples)}\n\`\`\``,
    `\`\`\`text\n${shown}\n\`\`\``,
    ...(hidden === 0 ? [] : [`Its flags are in [settings.md](settings.md), in ${hidden} groups.`]),
  ];
}

function titleOf(block: string): string {
  return /^(.+):\n {2}--/.exec(block)?.[1] ?? "";
}

/** The help has a command on one line and what it does on the next. */
function examplesIn(block: string): string {
  const lines = block.split("\n").slice(1);
  const pairs = lines.flatMap((line, index) =>
    line.startsWith("      ") ? [] : [[line.trim(), lines[index + 1]?.trim() ?? ""]],
  );
  return pairs.map(([command, effect]) => `# ${effect}\n${command}`).join("\n");
}

export function metricsPage(made: string): string {
  const rows = metricsOf(sampleLook()).map(({ name, type, help, samples }) => {
    const labels = new Map<string, Set<string>>();
    for (const sample of samples)
      for (const [label, value] of Object.entries(sample.labels ?? {})) {
        const values = labels.get(label) ?? new Set();
        labels.set(label, values.add(value));
      }
    const told = Array.from(labels, ([label, values]) => `\`${label}\`: ${valuesIn(values)}`);
    return { Metric: `\`${name}\``, Type: type, Labels: told.join("; "), Meaning: help };
  });
  return page([
    "# Metrics",
    made,
    "What `/metrics` of the [dashboard](dashboard.md) answers, in Prometheus' text format. Labels are bounded: no site and nothing\n" +
      "else from the web becomes one. [`grafana/weir.json`](grafana/weir.json) is a dashboard for Grafana that uses them.",
    markdownTable(rows).trimEnd(),
  ]);
}

function valuesIn(values: ReadonlySet<string>): string {
  if (values.size <= VALUES_SHOWN_MAX) return [...values].join(", ");
  return `${values.size} of them, see [reasons.md](reasons.md)`;
}

const ENDS = {
  done: "It was answered.",
  failed:
    "It was tried and did not come. *Again* says whether it is tried again, `--retries` times.",
  skipped: "It was never asked for, by our own decision or because another process has it.",
} as const;

export function reasonsPage(made: string): string {
  const parts = [
    "# Reasons",
    made,
    "Every address that a crawl knows ends with one reason of this closed list, or waits. They stand in `outcomes` of `--json`, in the\n" +
      "report, the dashboard, the exports and the metrics. An HTTP error is `http_` and its status, such as `http_404`, and counts as failed.",
  ];
  for (const [end, meaning] of Object.entries(ENDS)) {
    const reasons = Object.keys(REASONS).filter((name) => REASONS[name as NamedReason] === end);
    const rows = reasons.map((name) => ({
      Reason: `\`${name}\``,
      Meaning: meaningOf(name),
      ...(end === "failed" && { Again: isRetryable(name as NamedReason) ? "yes" : "" }),
    }));
    const title = `## ${end.charAt(0).toUpperCase()}${end.slice(1)}`;
    parts.push(title, meaning, markdownTable(rows).trimEnd());
  }
  const again = [408, 425, 429, 500, 502, 503, 504].filter((status) =>
    isRetryable(`http_${status}`),
  );
  parts.push(`Of HTTP errors these are tried again: ${again.join(", ")}.`);
  return page(parts);
}

function page(parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}
