/**
 * Draws the graph of the objects that `src/crawl/wire.ts` creates, and fails if it has a cycle.
 *
 *     node scripts/object-graph.ts             the graph as text: each object and the objects that it holds
 *     node scripts/object-graph.ts --mermaid   the same as a Mermaid diagram, with events as dotted lines
 *     node scripts/object-graph.ts --check     only the check
 *
 * An object holds those named in its constructor's arguments, and those whose classes its own file imports, if only as
 * types: a class cannot hold an object whose type it never names. An argument must not contain a function, which could
 * lead back to a later object. Reads lines like `const queue = new Queue(context);`; no parser is needed.
 */

import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const WIRE = "src/crawl/wire.ts";

interface Node {
  readonly name: string;
  /** Its class, or the function of `wire.ts` that makes it. */
  readonly maker: string;
  /** The function of `wire.ts` in which it is made. */
  readonly within: string;
  readonly args: string;
  readonly line: number;
}

const text = readFileSync(WIRE, "utf8");
const nodes = nodesIn(text);
const classFiles = filesOfClasses(text);
const holds = new Map(nodes.map((node) => [node.name, heldBy(node)]));
const breaches = [...closures(), ...cycles()];
if (process.argv.includes("--mermaid")) console.log(mermaid());
else if (!process.argv.includes("--check")) console.log(asText());
for (const breach of breaches) console.error(breach);
console.error(`${nodes.length} objects, ${breaches.length} breaches`);
process.exitCode = breaches.length === 0 ? 0 : 1;

/** Objects in the order in which they are created; `contextOf` makes the context, which holds the shared data. */
function nodesIn(source: string): Node[] {
  const found: Node[] = [];
  const pattern =
    /\bconst (\w+) =(?: \w+ === undefined \? undefined :)? (?:new (\w+)(?:<\w+>)?|(\w+(?:Of|For)))\(|^(?:export )?function (\w+)/gm;
  let within = "";
  for (const match of source.matchAll(pattern)) {
    const [head, name, className, maker, functionName] = match;
    if (functionName !== undefined) within = functionName;
    if (name === undefined) continue;
    const from = match.index + head.length;
    const args = source.slice(from, endOf(source, from));
    const line = source.slice(0, match.index).split("\n").length;
    found.push({ name, maker: className ?? maker ?? "", within, args, line });
  }
  const context = { name: "context", maker: "contextOf", within: "wire", args: "", line: 1 };
  const data = found.filter((node) => node.within === "contextOf");
  return [
    ...data,
    context,
    ...found.filter((node) => !data.includes(node) && node.within !== "wire"),
  ];
}

/** The place of the bracket that closes the one before `from`. */
function endOf(source: string, from: number): number {
  let depth = 1;
  for (let at = from; ; at++) {
    if ("([{".includes(source[at] ?? "")) depth += 1;
    if (")]}".includes(source[at] ?? "")) depth -= 1;
    if (depth === 0) return at;
  }
}

function filesOfClasses(source: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const [names, path] of importsOf(source))
    for (const name of names) files.set(name, normalize(join(dirname(WIRE), path)));
  return files;
}

function* importsOf(source: string): Generator<[names: readonly string[], path: string]> {
  for (const [, list = "", path = ""] of source.matchAll(
    /^import (?:type )?\{([^}]*)\} from "(\.[^"]*)"/gm,
  ))
    yield [
      list
        .split(",")
        .map((name) => name.replace(/\btype\b/, "").trim())
        .filter((name) => name !== ""),
      path,
    ];
}

/** Names of the objects that an object holds. */
function heldBy({ name, maker, args }: Node): string[] {
  const named = new Set(args.match(/\b\w+\b/g));
  const file = /^[A-Z]/.test(maker) ? classFiles.get(maker) : undefined;
  const imported = new Set<string>();
  if (file?.startsWith("src/crawl/") === true)
    for (const [names] of importsOf(readFileSync(file, "utf8")))
      for (const one of names) imported.add(one);
  return nodes
    .filter((node) => node.name !== name)
    .filter((node) => named.has(node.name) || imported.has(node.maker) || node.within === maker)
    .map((node) => node.name);
}

function closures(): string[] {
  return nodes
    .filter(({ args }) => args.includes("=>"))
    .map(({ name, line }) => `${WIRE}:${line}: ${name} is given a function; emit an event instead`);
}

/** Every object must be created after those that it holds. */
function cycles(): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      found.push(`${WIRE}: a cycle: ${[...path.slice(path.indexOf(name)), name].join(" → ")}`);
      return;
    }
    if (done.has(name)) return;
    done.add(name);
    for (const held of holds.get(name) ?? []) visit(held, [...path, name]);
  };
  for (const { name } of nodes) visit(name, []);
  return found;
}

function asText(): string {
  return nodes
    .map(({ name }) => `${name}: ${(holds.get(name) ?? []).join(", ") || "-"}`)
    .join("\n");
}

/** Without the context, which all parts hold. Dotted lines lead from the list of events to the objects that act on them. */
function mermaid(): string {
  const lines = nodes
    .filter(({ name }) => name !== "context")
    .flatMap(({ name }) =>
      (holds.get(name) ?? [])
        .filter((held) => held !== "context")
        .map((held) => `  ${name} --> ${held}`),
    );
  const acting = new Set(nodes.map(({ name }) => name));
  const dispatch = text.slice(
    text.indexOf("function dispatch("),
    text.indexOf("/** The scope of the seeds"),
  );
  const acts = new Set([...dispatch.matchAll(/\b(\w+)\??\.\w+\(/g)].map(([, name = ""]) => name));
  const dotted = [...acts]
    .filter((name) => acting.has(name))
    .map((name) => `  events -.-> ${name}`);
  return ["graph LR", ...lines, ...dotted].join("\n");
}
