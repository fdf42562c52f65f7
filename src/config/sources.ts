/**
 * Gathers the settings of a crawl: a flag overrides a variable (WEIR_…), that a file, that a
 * default.
 *
 * Mistakes of all sources are collected; odd but harmless settings are returned as remarks. Only an
 * unreadable file is an error at once. The YAML parser is loaded only when there is a file, because
 * most crawls have none.
 */

import { readFile, stat } from "node:fs/promises";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { type FieldTable, type Resolved, variableOf } from "./field.ts";
import type { SettingsFile } from "./file.ts";
import { readFlags } from "./flags.ts";
import { suggestion } from "./nearest.ts";
import { defaultsOf, type Layer, resolve } from "./resolve.ts";
import { SETTINGS, type Settings } from "./schema.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Gathered {
  readonly settings: Settings;
  readonly remarks: readonly string[];
  readonly mistakes: readonly string[];
  /** Errors in single sites' entries that concern the plan; see `deadlines.ts`. */
  readonly faults: readonly string[];
}

const FILE_BY_HABIT = "weir.yaml";
const FILE_BYTES_MAX = 16 * 2 ** 20;

/** `more` are flags of one command besides the settings; their values are returned separately. */
export async function gatherSettings<More extends FieldTable = Record<never, never>>(
  words: readonly string[],
  variables: Variables,
  more?: More,
): Promise<Gathered & { readonly more: Resolved<More> }> {
  const flags = readFlags(words, { ...SETTINGS, ...more });
  const environment = readVariables(variables);
  const anySeed = [flags.layer, environment.layer].some(({ given }) => given.has("seedsFile"));
  const file = await loadFile(
    flags.layer.given.get("configFile")?.at(-1),
    anySeed || flags.positional.length > 0 ? "named only" : "named or by habit",
  );

  const layers = [file?.content.layer, environment.layer, flags.layer].filter(
    (layer) => layer !== undefined,
  );
  const resolved = resolve(SETTINGS, layers);
  const own = resolve(more ?? ({} as More), [flags.layer]);
  const settings: Settings = {
    ...resolved.values,
    urls: flags.positional,
    sites: file?.content.sites ?? [],
  };
  return {
    settings,
    remarks: [...environment.remarks, ...(file?.remarks ?? [])],
    mistakes: [
      ...flags.mistakes,
      ...(file?.content.mistakes ?? []),
      ...resolved.mistakes,
      ...own.mistakes,
      ...contradictions(settings),
    ],
    faults: file?.content.faults ?? [],
    more: own.values,
  };
}

/** All settings at their defaults, for programs that use the library. */
export function defaultSettings(): Settings {
  return { ...defaultsOf(SETTINGS), urls: [], sites: [] };
}

function readVariables(variables: Variables): { layer: Layer; remarks: readonly string[] } {
  const table: FieldTable = SETTINGS;
  const inVariables = Object.entries(table).filter(([, field]) => field.flagOnly !== true);
  const nameOf = new Map(inVariables.map(([name, field]) => [variableOf(field), name]));
  const given = new Map<string, readonly string[]>();
  const remarks: string[] = [];
  for (const [variable, text] of Object.entries(variables)) {
    if (!variable.startsWith("WEIR_") || text === undefined || text === "") continue;
    const name = nameOf.get(variable);
    if (name !== undefined) given.set(name, [text]);
    // Another program's variable may start like ours, so it is only a remark.
    else
      remarks.push(
        `${visible(variable, 80)} is no setting${suggestion(variable, [...nameOf.keys()])}`,
      );
  }
  return { remarks, layer: { given, nameOf: (_, field) => variableOf(field) } };
}

interface LoadedFile {
  readonly content: SettingsFile;
  readonly remarks: readonly string[];
}

async function loadFile(
  name: string | undefined,
  which: "named only" | "named or by habit",
): Promise<LoadedFile | undefined> {
  if (name === undefined && which === "named only") return undefined;
  const fileName = name ?? FILE_BY_HABIT;
  const facts = await stat(fileName).catch((error: NodeJS.ErrnoException) => error);
  if (facts instanceof Error) {
    if (name === undefined && facts.code === "ENOENT") return undefined;
    throw unreadable(fileName, facts.code ?? "unknown error", facts);
  }
  if (!facts.isFile()) throw unreadable(fileName, "it is not a file");
  if (facts.size > FILE_BYTES_MAX) throw unreadable(fileName, "it is larger than 16 MiB");
  const text = await readFile(fileName, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw unreadable(fileName, error.code ?? "unknown error", error);
  });
  const { readSettingsFile } = await import("./file.ts");
  const content = readSettingsFile(text, fileName);
  const remarks: string[] = [];
  if (name === undefined) remarks.push(`using the settings in ${FILE_BY_HABIT}`);
  const secret = secretIn(content);
  if (secret !== undefined && (facts.mode & 0o077) !== 0)
    remarks.push(
      `${visible(fileName, 120)} contains a password and other users can read it; chmod 600 it, or use ${secret}`,
    );
  return { content, remarks };
}

/** The variable that could replace the first password in the file. */
function secretIn({ layer }: SettingsFile): string | undefined {
  const table: FieldTable = SETTINGS;
  for (const [name, texts] of layer.given) {
    const field = table[name];
    if (field === undefined) continue;
    const isUrl = name === "proxy" || name === "natsServers";
    if (isUrl ? texts.some((text) => text.includes("@")) : field.secret === true)
      return variableOf(field);
  }
  return undefined;
}

function unreadable(fileName: string, why: string, cause?: Error): CrawlError {
  return new CrawlError("FILE_UNREADABLE", `Cannot read ${visible(fileName, 120)}: ${why}.`, {
    cause,
  });
}

function contradictions(settings: Settings): string[] {
  const found: string[] = [];
  if (settings.fresh && settings.refresh)
    found.push("--fresh and --refresh: one deletes the pages that the other would fetch again");
  if (settings.quiet && settings.verbose) found.push("--quiet and --verbose: choose one");
  return found;
}
