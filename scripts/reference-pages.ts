/**
 * Three generated reference pages: commands from their help texts, metrics and outcomes from their tables.
 */

import { commandHelp } from "../src/cli/help.ts";
import { markdownTable } from "../src/cli/row-table.ts";
import { COMMANDS } from "../src/cli/run.ts";
import { type FieldTable, flagOf } from "../src/config/field.ts";
import { GROUPS } from "../src/config/schema.ts";
import { metricsOf } from "../src/dashboard/metrics.ts";
import { meaningOf } from "../src/dashboard/reason-words.ts";
import { sampleLook } from "../src/dashboard/sample.suite.ts";
import { filled } from "./prose.ts";
import { isRetryable, type NamedReason, REASONS } from "../src/page/outcome.ts";

/** Labels with more values than this show only their number. */
const VALUES_SHOWN_MAX = 10;

export async function commandsPage(made: string): Promise<string> {
  const parts = [
    "# Commands",
    made,
    "All commands, as `weir COMMAND --help` shows them; in a checkout, type `./weir`. Every flag of `weir crawl` is\n" +
      "listed here and described in [settings.md](settings.md); each is also a key of weir.yaml and an environment\n" +
      "variable. " +
      "Exit codes: 0 done; 1 the job failed; 2 wrong usage or settings; 3 stopped with work left; 130 ended by a second Ctrl-C.",
  ];
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const { command } = await load();
    parts.push(`## \`weir ${name}\``, `${summary}.`, ...commandParts(commandHelp(command.page)));
    if (name === "crawl") parts.push("All flags of `weir crawl`, by group:", allFlags());
  }
  return page(parts);
}

/** The description as prose, the examples as shell commands, the rest as the terminal shows it. */
function commandParts(help: string): string[] {
  const blocks = help.trimEnd().split("\n\n");
  const [usage = "", about = "", examples = "", ...rest] = blocks;
  const shown = [usage, ...rest].join("\n\n");
  return [about, `\`\`\`sh\n${examplesIn(examples)}\n\`\`\``, `\`\`\`text\n${shown}\n\`\`\``];
}

function allFlags(): string {
  return Object.entries<FieldTable>(GROUPS)
    .map(([title, table]) => {
      const flags = Object.values(table).map((field) => `\`${flagOf(field)}\``);
      const item = `- [${title}](settings.md#${title.toLowerCase()}): ${flags.join(", ")}`;
      return filled(item, "  ");
    })
    .join("\n");
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
    "Metrics at `/metrics` of the [dashboard](dashboard.md), in the text format of Prometheus. Labels are bounded: no site and no\n" +
      "other text from the web is a label. [`grafana/weir.json`](grafana/weir.json) is a Grafana dashboard for them.",
    markdownTable(rows).trimEnd(),
  ]);
}

function valuesIn(values: ReadonlySet<string>): string {
  if (values.size <= VALUES_SHOWN_MAX) return [...values].join(", ");
  return `${values.size} of them, see [reasons.md](reasons.md)`;
}

const ENDS = {
  done: "The server answered.",
  failed:
    "The response was definitive, or every attempt of the URL failed although its site responded to other requests. *Retry* says whether a failure is retried, up to `--retries` times. Failures of a site (lookup, connection, 5xx for everything) are retried without end and charged to no URL: its URLs stay pending, see [When sites do not respond](guides/outages.md). Their reason is then shown for the site, in `unreachable` of `--json` and in the summary.",
  skipped: "No request was made, because of a rule or because another process owns the URL.",
} as const;

export function reasonsPage(made: string): string {
  const parts = [
    "# Reasons",
    made,
    "Every known URL is pending or has one outcome of this closed list. Outcomes are shown in `outcomes` of `--json`, in the report,\n" +
      "the dashboard, the exports and the metrics. An HTTP error is `http_` and its status, such as `http_404`, and counts as failed.",
  ];
  for (const [end, meaning] of Object.entries(ENDS)) {
    const reasons = Object.keys(REASONS).filter((name) => REASONS[name as NamedReason] === end);
    const rows = reasons.map((name) => ({
      Reason: `\`${name}\``,
      Meaning: meaningOf(name),
      ...(end === "failed" && { Retry: isRetryable(name as NamedReason) ? "yes" : "" }),
    }));
    const title = `## ${end.charAt(0).toUpperCase()}${end.slice(1)}`;
    parts.push(title, meaning, markdownTable(rows).trimEnd());
  }
  const again = [408, 425, 429, 500, 502, 503, 504].filter((status) =>
    isRetryable(`http_${status}`),
  );
  parts.push(`Retried HTTP errors: ${again.join(", ")}.`);
  return page(parts);
}

function page(parts: readonly string[]): string {
  const isProse = (part: string): boolean => !/^(#|\||```|<|- )/.test(part);
  const filledParts = parts.map((part) =>
    isProse(part) ? filled(part.replaceAll("\n", " ")) : part,
  );
  return `${filledParts.join("\n\n")}\n`;
}
