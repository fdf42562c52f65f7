/**
 * Reads a settings file (YAML) into a layer, and its `sites:` into entries.
 *
 * Only text, lists and maps are taken from YAML: `1e99`, `yes` and `0x10` stay text, which the
 * readers of the flags then read. Keys are looked up and never become properties, duplicate keys
 * are refused by the parser, and aliases, which could expand without end, are refused here.
 */

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Node, Pair, Scalar, YAMLMap } from "yaml";
import { visible } from "../base/visible.ts";
import { withoutCredentials } from "../url/credentials.ts";
import { expectationOf, type FieldTable } from "./field.ts";
import { suggestion } from "./nearest.ts";
import { type Layer, resolve } from "./resolve.ts";
import { SITE_PLANNING } from "./deadlines.ts";
import { SETTINGS, SITE_SETTINGS, type SiteSettings } from "./schema.ts";

export interface SettingsFile {
  readonly layer: Layer;
  readonly sites: readonly SiteSettings[];
  readonly mistakes: readonly string[];
  /** Lines of single sites that cannot be read and only concern the plan; see `deadlines.ts`. */
  readonly faults: readonly string[];
}

export function readSettingsFile(text: string, fileName: string): SettingsFile {
  return new FileReading(text, fileName).result();
}

class FileReading {
  readonly #fileName: string;
  readonly #lines = new LineCounter();
  readonly #mistakes: string[] = [];
  readonly #faults: string[] = [];
  readonly #given = new Map<string, readonly string[]>();
  readonly #lineOf = new Map<string, number>();
  readonly #sites: SiteSettings[] = [];

  constructor(text: string, fileName: string) {
    this.#fileName = visible(fileName, 120);
    const root = this.#parse(text);
    if (isMap(root)) this.#readRoot(root);
    else if (root !== undefined) this.#refuse(root, "expects lines of `setting: value`");
  }

  result(): SettingsFile {
    return {
      sites: this.#sites,
      mistakes: this.#mistakes,
      faults: this.#faults,
      layer: {
        given: this.#given,
        nameOf: (name, field) => `${this.#place(this.#lineOf.get(name))}: ${field.key}`,
      },
    };
  }

  #parse(text: string): Node | undefined {
    try {
      const document = parseDocument(text, {
        schema: "failsafe",
        lineCounter: this.#lines,
        prettyErrors: false,
      });
      for (const error of [...document.errors, ...document.warnings]) {
        const line = this.#lines.linePos(error.pos[0]).line;
        // The text after the colon quotes the file, perhaps a password.
        const [what = ""] = error.message.split(": ", 1);
        this.#mistakes.push(`${this.#place(line)}: ${visible(what, 200)}`);
      }
      return document.contents === null || document.errors.length > 0
        ? undefined
        : document.contents;
    } catch (error) {
      // The parser is recursive; a file of only brackets exhausts the stack.
      if (!(error instanceof RangeError)) throw error;
      this.#mistakes.push(`${this.#fileName}: nested too deeply to be settings`);
      return undefined;
    }
  }

  #readRoot(root: YAMLMap): void {
    const settings = Object.fromEntries(
      Object.entries(SETTINGS).filter(([, field]) => !("flagOnly" in field)),
    );
    for (const [key, value] of this.#entries(root)) {
      if (key === "sites") this.#readSites(value);
      else this.#take(settings, ["sites"], { key, value, into: this.#given });
    }
  }

  #readSites(list: Node): void {
    if (!isSeq(list)) return this.#refuse(list, "sites: expects a list of `- url: …`");
    for (const item of list.items as Node[]) {
      const given = new Map<string, readonly string[]>();
      if (isScalar(item)) given.set("url", [textOf(item)]);
      else if (isMap(item)) {
        for (const [key, value] of this.#entries(item))
          this.#take(SITE_SETTINGS, [], { key, value, into: given });
      }
      if (!given.has("url")) {
        this.#refuse(item, "sites: every entry needs a url");
        continue;
      }
      const place = this.#place(this.#line(item));
      const layer: Layer = { given, nameOf: (_, field) => `${place}: ${field.key}` };
      const site = resolve(SITE_SETTINGS, [layer]);
      const faults = new Set(resolve(SITE_PLANNING, [layer]).mistakes);
      this.#faults.push(...faults);
      this.#mistakes.push(...site.mistakes.filter((mistake) => !faults.has(mistake)));
      if (site.values.url !== undefined) this.#sites.push({ ...site.values, url: site.values.url });
    }
  }

  #take(
    table: FieldTable,
    otherKeys: readonly string[],
    entry: { key: string; value: Node; into: Map<string, readonly string[]> },
  ): void {
    const { key, value, into } = entry;
    const [name, field] = Object.entries(table).find(([, one]) => one.key === key) ?? [];
    if (name === undefined || field === undefined) {
      const keys = [...Object.values(table).map((field) => field.key), ...otherKeys];
      this.#refuse(
        value,
        `${visible(withoutCredentials(key), 80)} is unknown${suggestion(key, keys)}`,
      );
      return;
    }
    const texts = textsOf(value);
    if (texts === undefined || (texts.length !== 1 && field.separator === undefined))
      this.#refuse(value, `${key} expects ${expectationOf(field)}`);
    else {
      into.set(name, texts);
      if (into === this.#given) this.#lineOf.set(name, this.#line(value));
    }
  }

  *#entries(map: YAMLMap): Generator<[string, Node]> {
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      if (!isScalar(pair.key) || pair.value === null)
        this.#refuse(pair.key, "expects `key: value`");
      else if (isAlias(pair.value))
        this.#refuse(pair.value, "aliases (*name) are not used in settings; write the value out");
      else yield [String(pair.key.value), pair.value];
    }
  }

  #refuse(node: Node, why: string): void {
    this.#mistakes.push(`${this.#place(this.#line(node))}: ${why}`);
  }

  #line(node: Node): number {
    return this.#lines.linePos(node.range?.[0] ?? 0).line;
  }

  #place(line: number | undefined): string {
    return line === undefined ? this.#fileName : `${this.#fileName} line ${line}`;
  }
}

function textsOf(value: Node): string[] | undefined {
  if (isScalar(value)) return [textOf(value)];
  if (!isSeq(value)) return undefined;
  const texts = (value.items as Node[]).map((item) => (isScalar(item) ? textOf(item) : undefined));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

function textOf(scalar: Scalar): string {
  return typeof scalar.value === "string" ? scalar.value : "";
}
