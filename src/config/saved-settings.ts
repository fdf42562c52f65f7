/**
 * The settings of a crawl in words, for reports: those that differ from the default.
 *
 * Saved as `settings.json` in the crawl's folder when it starts. They contain no secret and no path
 * of this machine, because reports may be published. They are for users and for views of the crawl;
 * no crawl reads them.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { hideCredentials } from "../base/visible.ts";
import { showBytes, showDuration } from "../base/units.ts";
import { type PartitionRule, showPartitionRule } from "../partition/rules.ts";
import type { Field, FieldTable } from "./field.ts";
import { GROUPS, SETTINGS, SITE_SETTINGS, type SiteSettings, type Settings } from "./schema.ts";
import { defaultSettings } from "./sources.ts";

export interface SavedSetting {
  readonly key: string;
  readonly text: string;
}

const FILE = "settings.json";
/** Groups that concern this start or this machine, not the crawl. */
const LEFT_OUT: ReadonlySet<string> = new Set(["Job", "Cluster", "Output"]);
const URLS_MAX = 10;
const SITES_MAX = 30;

export function settingsToSave(settings: Settings): SavedSetting[] {
  const fallbacks = defaultSettings();
  const saved: SavedSetting[] = [];
  const urls = [...settings.urls, ...settings.sites.map(({ url }) => url)];
  if (urls.length > 0) saved.push({ key: "start", text: listOf(urls, URLS_MAX) });
  for (const [title, table] of Object.entries<FieldTable>(GROUPS)) {
    if (LEFT_OUT.has(title)) continue;
    for (const [name, field] of Object.entries(table)) {
      const value = settings[name as keyof Settings];
      const isUsual = JSON.stringify(value) === JSON.stringify(fallbacks[name as keyof Settings]);
      if (!isUsual && isForOthers(name, field))
        saved.push({ key: field.key, text: hideCredentials(wordsOf(name, value)) });
    }
  }
  const ownWords = settings.sites.map(siteWords).filter((text) => text !== "");
  for (const text of ownWords.slice(0, SITES_MAX)) saved.push({ key: "site", text });
  const hidden = ownWords.length - SITES_MAX;
  if (hidden > 0) saved.push({ key: "site", text: `and ${hidden} more` });
  return saved;
}

/** Empty for a site that has only a URL. */
function siteWords(site: SiteSettings): string {
  const own = Object.entries<Field<unknown>>(SITE_SETTINGS).flatMap(([name, { key, fallback }]) => {
    const value = site[name as keyof SiteSettings];
    const isUsual = value === undefined || key === "url" || String(value) === fallback;
    return isUsual ? [] : [`${key} ${wordsOf(name, value)}`];
  });
  return own.length === 0 ? "" : [site.url, ...own].join(", ");
}

function isForOthers(name: string, { secret }: Field<unknown>): boolean {
  return secret !== true && !/(File|Folder)$/.test(name);
}

/** The unit in a setting's name determines how its value is written. */
function wordsOf(name: string, value: unknown): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "number") {
    if (name.endsWith("Bps")) return `${showBytes(value)}/s`;
    if (name.endsWith("Ms")) return value < 1000 ? `${value} ms` : showDuration(value);
    if (name.endsWith("Minutes")) return showDuration(value * 60_000);
    return name.includes("Bytes") ? showBytes(value) : String(value);
  }
  if (typeof value === "string") return name === "topicsModel" ? basename(value) : value;
  if (Array.isArray(value)) return listOf(value.map(itemWords), URLS_MAX);
  if (typeof value !== "object" || value === null) return "none";
  if ("text" in value) return String(value.text);
  if ("bytes" in value && "per" in value)
    return `${showBytes(Number(value.bytes))}/${String(value.per)}`;
  return JSON.stringify(value);
}

function itemWords(item: unknown): string {
  const isRule = typeof item === "object" && item !== null && "group" in item;
  return isRule ? showPartitionRule(item as PartitionRule) : String(item);
}

function listOf(items: readonly string[], countMax: number): string {
  const hidden = items.length - countMax;
  return items.slice(0, countMax).join(", ") + (hidden > 0 ? ` and ${hidden} more` : "");
}

/** Throws when the file cannot be written. */
export function saveSettings(folder: string, settings: Settings): void {
  const file = join(folder, FILE);
  writeFileSync(`${file}.part`, `${JSON.stringify(settingsToSave(settings))}\n`);
  renameSync(`${file}.part`, file);
}

/** The saved settings of a crawl; empty if there are none. */
export function readSavedSettings(folder: string): readonly SavedSetting[] {
  try {
    const saved: unknown = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    return Array.isArray(saved) ? saved.filter(isSaved) : [];
  } catch {
    return [];
  }
}

/** The time zone and country of a crawl's hours and days; undefined for those of this machine. */
export function savedHours(folder: string): Partial<Pick<Settings, "timeZone" | "holidays">> {
  const saved = new Map(readSavedSettings(folder).map(({ key, text }) => [key, text]));
  const { timeZone, holidays } = SETTINGS;
  return {
    timeZone: timeZone.reader.read(saved.get(timeZone.key) ?? ""),
    holidays: holidays.reader.read(saved.get(holidays.key) ?? ""),
  };
}

function isSaved(value: unknown): value is SavedSetting {
  const { key, text } = (value ?? {}) as Partial<Record<keyof SavedSetting, unknown>>;
  return typeof key === "string" && typeof text === "string";
}
