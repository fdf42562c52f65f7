/**
 * Reads robots.txt as RFC 9309 says, and where it says nothing, as Google's parser does.
 *
 * Only what concerns us is kept: the rules of the groups that name us, or else of those for `*`,
 * together with their Crawl-delay and the file's sitemaps. Nothing in a file makes this throw: what
 * cannot be read is left out, and the rest counts. Known slips of the pen (`disalow`, a missing
 * colon) are understood as they were meant.
 *
 * No file at all is an answer too: a site that has none is open, one that cannot say is closed until
 * it can. O(n) in the bytes of the file, of which at most 512 KiB are looked at.
 */

import {
  ALLOWED,
  FORBIDDEN,
  type Rule,
  RuleSet,
  spellPattern,
  type Verdict,
} from "./robots-rules.ts";

export type { Rule, Verdict } from "./robots-rules.ts";

export const ROBOTS_BYTES_MAX = 512 * 1024;

export interface RobotsRules {
  /** Takes path and query. The path of robots.txt itself is always allowed. */
  allows(pathAndQuery: string): Verdict;
  /** At most a day; undefined when none is asked for. */
  readonly crawlDelayMs: number | undefined;
  /** Absolute http(s) URLs as written, each once, at most 100. */
  readonly sitemaps: readonly string[];
  /** Lines that are neither empty nor understood; many of them are a sign of an HTML page. */
  readonly linesUnread: number;
  /** True when the site could not answer, so that it must be asked again before anything else. */
  readonly mustAskAgain: boolean;
}

/** Longer lines are cut, like Google does: eight times the longest URL of old browsers. */
const LINE_BYTES_MAX = 2083 * 8 - 1;
/** Twice what is read of a site, so that the walk over them counts what is left out. */
const SITEMAPS_MAX = 1000;
const SITEMAP_LENGTH_MAX = 2_048;
const CRAWL_DELAY_MAX_MS = 86_400_000;

/** The rules that follow from how the request for robots.txt ended; no status means no answer. */
export function rulesFor(
  status: number | undefined,
  body: Uint8Array | string,
  productToken: string,
): RobotsRules {
  if (status === undefined || status === 429 || status >= 500 || status < 200) return CLOSED;
  // A redirect that is still one here led nowhere after five hops: as good as no file.
  return status < 300 ? parseRobots(body, productToken) : OPEN;
}

export const OPEN: RobotsRules = withoutFile(ALLOWED);
export const CLOSED: RobotsRules = withoutFile(FORBIDDEN);

export function parseRobots(body: Uint8Array | string, productToken: string): RobotsRules {
  const reading = new Reading(productToken.toLowerCase());
  for (const [index, line] of linesOf(body).entries()) reading.take(line, index + 1);
  return reading.rules();
}

function withoutFile(verdict: Verdict): RobotsRules {
  return {
    allows: () => verdict,
    crawlDelayMs: undefined,
    sitemaps: [],
    linesUnread: 0,
    mustAskAgain: !verdict.allowed,
  };
}

/** What a file asks of some: those it names, or everybody. */
class Group {
  readonly rules: Rule[] = [];
  crawlDelayMs: number | undefined;

  add(rule: Rule): void {
    if (rule.pattern === "") return;
    this.rules.push(rule);
    // Google takes an allowed index page to mean its folder, too.
    const folderEnd = rule.pattern.lastIndexOf("/") + 1;
    if (rule.allow && rule.pattern.startsWith("index.htm", folderEnd))
      this.rules.push({ ...rule, pattern: `${rule.pattern.slice(0, folderEnd)}$` });
  }

  delay(delayMs: number | undefined): void {
    if (delayMs !== undefined) this.crawlDelayMs = Math.max(delayMs, this.crawlDelayMs ?? 0);
  }
}

class Reading {
  readonly #productToken: string;
  readonly #ours = new Group();
  readonly #everybodys = new Group();
  readonly #sitemaps = new Set<string>();
  #namesUs = false;
  #namesEverybody = false;
  #everNamedUs = false;
  /** A rule was read since the last agent line, so that the next one begins a new group. */
  #hasRules = false;
  #linesUnread = 0;

  constructor(productToken: string) {
    this.#productToken = productToken;
  }

  take(line: string, number: number): void {
    const content = trim(beforeAny(line, "#\0"));
    if (content === "") return;
    const [key, value] = splitLine(content);
    const field = fieldOf(key);
    if (field === "agent") this.#agent(value);
    else if (field === "sitemap") this.#sitemap(value);
    else if (field === "delay") this.#group()?.delay(readDelayMs(value));
    else if (field === undefined) this.#linesUnread += 1;
    else this.#rule({ allow: field === "allow", pattern: patternIn(value), line: number });
  }

  rules(): RobotsRules {
    const group = this.#everNamedUs ? this.#ours : this.#everybodys;
    const set = new RuleSet(group.rules);
    return {
      allows: (path) => (path === "/robots.txt" ? ALLOWED : set.verdict(path)),
      crawlDelayMs: group.crawlDelayMs,
      sitemaps: [...this.#sitemaps],
      linesUnread: this.#linesUnread,
      mustAskAgain: false,
    };
  }

  #agent(value: string): void {
    if (this.#hasRules) this.#namesUs = this.#namesEverybody = this.#hasRules = false;
    if (/^\*(?:\s|$)/.test(value)) {
      this.#namesEverybody = true;
    } else if (/^[a-z_-]*/i.exec(value)?.[0].toLowerCase() === this.#productToken) {
      this.#namesUs = this.#everNamedUs = true;
    }
  }

  #rule(rule: Rule): void {
    const group = this.#group();
    if (group === undefined) return;
    this.#hasRules = true;
    group.add(rule);
  }

  #group(): Group | undefined {
    if (this.#namesUs) return this.#ours;
    return this.#namesEverybody ? this.#everybodys : undefined;
  }

  #sitemap(value: string): void {
    const isUsable = /^https?:\/\//i.test(value) && value.length <= SITEMAP_LENGTH_MAX;
    if (isUsable && this.#sitemaps.size < SITEMAPS_MAX) this.#sitemaps.add(fromUtf8(value));
  }
}

type Field = "agent" | "allow" | "disallow" | "sitemap" | "delay";

/** How fields begin, in lower case; what follows is forgiven, and so are these slips. */
const FIELDS: readonly (readonly [beginning: string, field: Field])[] = [
  ["user-agent", "agent"],
  ["useragent", "agent"],
  ["user agent", "agent"],
  ["allow", "allow"],
  ["disallow", "disallow"],
  ["dissallow", "disallow"],
  ["dissalow", "disallow"],
  ["disalow", "disallow"],
  ["diasllow", "disallow"],
  ["disallaw", "disallow"],
  ["sitemap", "sitemap"],
  ["site-map", "sitemap"],
  ["crawl-delay", "delay"],
  ["crawldelay", "delay"],
  ["crawl delay", "delay"],
];

function fieldOf(key: string): Field | undefined {
  const lower = key.slice(0, 16).toLowerCase();
  return FIELDS.find(([beginning]) => lower.startsWith(beginning))?.[1];
}

/** Splits at the colon, or at white space when that leaves exactly two words. */
function splitLine(content: string): readonly [key: string, value: string] {
  const colon = content.indexOf(":");
  if (colon >= 0) return [trim(content.slice(0, colon)), trim(content.slice(colon + 1))];
  const words = content.split(/[ \t]+/, 3);
  return [words.length === 2 ? (words[0] ?? "") : "", words[1] ?? ""];
}

/**
 * The lines, one character a byte, so that no byte can be malformed. A line that the size limit cuts
 * through is left out: half a path would forbid more than was meant.
 */
function linesOf(body: Uint8Array | string): string[] {
  const bytes =
    typeof body === "string"
      ? Buffer.from(body)
      : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString("latin1", bomLength(bytes), ROBOTS_BYTES_MAX);
  const lines = text.split(/\r\n|\r|\n/);
  if (bytes.length > ROBOTS_BYTES_MAX) lines.pop();
  return lines.map((line) => line.slice(0, LINE_BYTES_MAX));
}

/** Google skips a byte order mark that is cut short, too. */
function bomLength(bytes: Uint8Array): number {
  const differsAt = [0xef, 0xbb, 0xbf].findIndex((byte, index) => bytes[index] !== byte);
  return differsAt < 0 ? 3 : differsAt;
}

function patternIn(value: string): string {
  const ascii = value.replaceAll(/[\u0080-\u00ff]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return spellPattern(copyOf(ascii));
}

/** A slice would keep the whole file in memory for one short rule. */
function copyOf(ascii: string): string {
  return Buffer.from(ascii, "latin1").toString("latin1");
}

function fromUtf8(value: string): string {
  return Buffer.from(value, "latin1").toString();
}

function readDelayMs(value: string): number | undefined {
  if (!/^(?:\d+\.?\d*|\.\d+)(?:e\d+)?$/i.test(value)) return undefined;
  return Math.min(CRAWL_DELAY_MAX_MS, Number(value) * 1_000);
}

function beforeAny(line: string, marks: string): string {
  let end = line.length;
  for (const mark of marks) {
    const at = line.indexOf(mark);
    if (at >= 0 && at < end) end = at;
  }
  return line.slice(0, end);
}

/** ASCII white space only: the byte A0 may be half of a letter. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
