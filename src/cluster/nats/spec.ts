/**
 * The definition of a crawl, on which all nodes must agree: stored in the registry, in pieces, with a digest.
 *
 * A node takes all settings from it except those about itself. If a crawl of the same name exists, or nodes have another
 * version, the second one is refused, and nothing of the first is changed. Private addresses are allowed by the operator
 * of each machine: a node that does not allow all that the crawl does would fail their URLs for every node, so it does
 * not join.
 */

import { createHash } from "node:crypto";
import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import type { Settings } from "../../config/schema.ts";
import { VERSION } from "../../config/version.ts";
import { modelFor } from "../../crawl/topics/setup.ts";
import type { Registry } from "../../exchange/registry.ts";
import { isWithin, readAllowance } from "../../fetch/address-guard.ts";
import type { Spellings } from "../../config/seeds.ts";
import type { CanonicalUrl } from "../../url/url.ts";

export interface Spec {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spellings: Spellings;
  readonly digest: string;
}

interface Head {
  readonly version: string;
  readonly digest: string;
  readonly pieces: number;
}

/** Keys of the registry: the division, and how the crawl ended. */
export const DIVISION = "division";
export const OVER = "over";

const PIECE_CHARACTERS = 16_000;
const PIECES_MAX = 4_096;
/** Settings that each node has for itself. */
const OWN: readonly (keyof Settings)[] = [
  "outFolder",
  "fresh",
  "memoryBytes",
  "connectionsMax",
  "dashboard",
  "dashboardHost",
  "dashboardToken",
  "logFile",
  "json",
  "quiet",
  "verbose",
  "allowPrivate",
  "proxy",
  "caFile",
  "clientCertFile",
  "clientKeyFile",
  "speedsFile",
  "natsServers",
  "crawlName",
  "nodeName",
  "natsCredentialsFile",
  "natsNkeyFile",
  "natsUser",
  "natsPassword",
  "natsToken",
  "natsCaFile",
  "natsCertFile",
  "natsKeyFile",
  "natsDomain",
  "replicateFile",
  "referenceFolder",
  "urls",
  "seedsFile",
];

export function specOf(
  settings: Settings,
  seeds: readonly CanonicalUrl[],
  spellings: Spellings = {},
): Spec {
  return { settings, seeds, spellings, digest: digestOf(textOf({ settings, seeds, spellings })) };
}

/** Stores the definition, or finds the same one stored. Returns whether it is new. */
export async function announceSpec(registry: Registry, name: string, spec: Spec): Promise<boolean> {
  const there = await readHead(registry);
  if (there !== undefined && there.digest === spec.digest) return false;
  if (there !== undefined) throw clash(name, there);
  const text = textOf(spec);
  const pieces = Math.ceil(text.length / PIECE_CHARACTERS);
  if (pieces > PIECES_MAX)
    throw new CrawlError("USAGE", "Too many seeds for the registry of a cluster.");
  for (let index = 0; index < pieces; index++) {
    const piece = text.slice(index * PIECE_CHARACTERS, (index + 1) * PIECE_CHARACTERS);
    await putOver(registry, pieceKey(index), piece);
  }
  const head: Head = { version: VERSION, digest: spec.digest, pieces };
  const revision = await registry.put("spec", JSON.stringify(head), 0);
  if (revision !== undefined) return true;
  const first = await readHead(registry);
  if (first?.digest !== spec.digest) throw clash(name, first);
  return false;
}

/** Reads the definition; undefined while none is announced. */
export async function readSpec(registry: Registry, own: Settings): Promise<Spec | undefined> {
  const head = await readHead(registry);
  if (head === undefined) return undefined;
  if (head.version !== VERSION)
    throw new CrawlError(
      "CLUSTER_MISMATCH",
      `The crawl was started by Weir ${head.version}, and this is ${VERSION}.`,
    );
  let text = "";
  for (let index = 0; index < head.pieces; index++) {
    const piece = await registry.get(pieceKey(index));
    // Lost with the table during this read: it will be announced again.
    if (piece === undefined) return undefined;
    text += piece.value;
  }
  if (digestOf(text) !== head.digest) return undefined;
  const written = JSON.parse(text) as Written;
  const { settings: theirs, seeds, spellings = {}, allowPrivate = [], model } = written;
  refuseNarrower(allowPrivate, own.allowPrivate);
  const local = Object.fromEntries(OWN.map((key) => [key, own[key]]));
  const settings = { ...own, ...theirs, ...local, allowPrivate };
  const ours = modelDigestOf(settings);
  if (ours !== model)
    throw new CrawlError(
      "CLUSTER_MISMATCH",
      `The crawl uses the topic model ${model.slice(0, 16)}…, and the one here is ${ours.slice(0, 16)}…: all nodes need the same file.`,
    );
  return { settings, seeds, spellings, digest: head.digest };
}

/** Removes the crawl's own entries: the next of its name may be another. */
export async function forgetSpec(registry: Registry): Promise<void> {
  for (const key of [DIVISION, OVER, "spec"]) {
    const entry = await registry.get(key);
    if (entry !== undefined) await registry.remove(key, entry.revision);
  }
}

interface Written extends Pick<Spec, "seeds"> {
  readonly settings: Partial<Settings>;
  /** Digest of the topic model, so that all nodes classify alike; empty without one. */
  readonly model: string;
  /** Private addresses that the crawl may reach; absent where there are none. */
  readonly allowPrivate?: readonly string[];
  /** Absent where every seed is in canonical form. */
  readonly spellings?: Spellings;
}

function textOf({ settings, seeds, spellings }: Omit<Spec, "digest">): string {
  const model = modelDigestOf(settings);
  const { allowPrivate } = settings;
  const hasSpellings = Object.keys(spellings).length > 0;
  const written: Written = {
    settings: shared(settings),
    seeds,
    model,
    ...(allowPrivate.length > 0 ? { allowPrivate } : {}),
    ...(hasSpellings ? { spellings } : {}),
  };
  return JSON.stringify(written);
}

function refuseNarrower(theirs: readonly string[], own: readonly string[]): void {
  const allowed = own.map(readAllowance).filter((range) => range !== undefined);
  const missing = theirs.filter((text) => {
    const wanted = readAllowance(text);
    return wanted === undefined || !isWithin(wanted, allowed);
  });
  if (missing.length === 0) return;
  const ranges = visible(missing.join(","), 300);
  throw new CrawlError(
    "CLUSTER_MISMATCH",
    `The crawl may fetch from private addresses that this node refuses. If this machine may reach them, ` +
      `start the node with --allow-private ${ranges}.`,
  );
}

function modelDigestOf(settings: Settings): string {
  return modelFor(settings)?.digest ?? "";
}

function shared(settings: Settings): Partial<Settings> {
  const own = new Set<string>(OWN);
  return Object.fromEntries(
    Object.entries(settings).filter(([key]) => !own.has(key)),
  ) as Partial<Settings>;
}

async function readHead(registry: Registry): Promise<Head | undefined> {
  const entry = await registry.get("spec");
  return entry === undefined ? undefined : (JSON.parse(entry.value) as Head);
}

async function putOver(registry: Registry, key: string, value: string): Promise<void> {
  for (;;) {
    const there = await registry.get(key);
    if (there?.value === value) return;
    if ((await registry.put(key, value, there?.revision ?? 0)) !== undefined) return;
  }
}

function clash(name: string, there: Head | undefined): CrawlError {
  const by = there === undefined ? "" : `, by Weir ${there.version}`;
  return new CrawlError(
    "CLUSTER_MISMATCH",
    `There is another crawl called ${JSON.stringify(name)} on these servers${by}, with other settings or addresses.`,
  );
}

function pieceKey(index: number): string {
  return `spec piece ${index}`;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
