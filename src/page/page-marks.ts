/**
 * Marks pages that a browser would show otherwise: pages whose content scripts would load, and walls that a server
 * sends instead of a page (a login form, a consent form, a challenge for robots).
 *
 * Only pages with little visible text are examined, so that an article about captchas is no wall, and that most
 * pages cost one addition for each run of text. Marks change nothing in the crawl but what it reports, except
 * that walls count as worthless for the shape of their URL (`frontier/traps.ts`).
 */

import type { Remark } from "./page.ts";
import type { TextRuns } from "./text-runs.ts";

type Mark = Extract<Remark, "needs_scripts" | "login_wall" | "consent_wall" | "challenge_wall">;

export const WALLS = ["login_wall", "consent_wall", "challenge_wall"] as const;

/** Visible bytes and links of a page that only scripts fill. */
const EMPTY_TEXT_BYTES_MAX = 250;
const EMPTY_LINKS_MAX = 3;
/** Visible bytes of a wall. */
const WALL_TEXT_BYTES_MAX = 1_500;
/** Of a wall's HTML, searched for its signs. */
const WALL_BYTES_READ = 256 * 1024;

// No pattern crosses a `<` without consuming a tag, so unfinished tags in a row take linear time.
const SCRIPT = /<script\b(?![^<>]*application\/(?:ld\+)?json)[^<>]*(?:\ssrc\s*=|>[^<\s])/i;
const MEDIA = /<(?:img|picture|video|audio|iframe|frame|object|embed)\b/i;
const CHALLENGE =
  /<title>\s*(?:just a moment|attention required|access denied|are you a robot|robot check|security check|checking your browser|ddos-guard)|\/cdn-cgi\/challenge-platform|_cf_chl_opt|cf-turnstile|_incapsula_resource|incapsula incident|px-captcha|captcha-delivery\.com|class="?g-recaptcha|h-captcha|verify (?:that )?you are (?:a )?human/i;
const PASSWORD = /<input\b[^<>]*\stype\s*=\s*["']?password/i;
const CONSENT =
  /<title>[^<]*(?:before you continue|cookie consent|consent required|privacy consent)|consent\.(?:google|yahoo|youtube)\.|\/consent(?:-wall|wall|check)|(?:<button|<input|<a)\b[^<]*(?:<(?!\/)[^<>]*>[^<]*){0,2}\b(?:accept all|agree and continue|i agree|alle akzeptieren|zustimmen und weiter|tout accepter|aceptar todo)\b/i;

interface MarkedPage {
  /** In UTF-8. */
  readonly html: Uint8Array;
  readonly runs: Pick<TextRuns, "count" | "start" | "end">;
  /** Distinct targets of its links. */
  readonly links: number;
}

/** What else a page is: nothing for most. */
export function marksOf({ html, runs, links }: MarkedPage): readonly Mark[] {
  const textBytes = visibleBytes(runs, WALL_TEXT_BYTES_MAX);
  if (textBytes > WALL_TEXT_BYTES_MAX) return [];
  const text = latin1(html);
  if (CHALLENGE.test(text)) return ["challenge_wall"];
  if (PASSWORD.test(text)) return ["login_wall"];
  if (CONSENT.test(text)) return ["consent_wall"];
  const isEmpty = textBytes <= EMPTY_TEXT_BYTES_MAX && links <= EMPTY_LINKS_MAX;
  return isEmpty && SCRIPT.test(text) && !showsMedia(text) ? ["needs_scripts"] : [];
}

/** Images beside trackers, and frames, are content without text. */
function showsMedia(text: string): boolean {
  const lower = text.toLowerCase();
  let shown = "";
  let at = 0;
  for (;;) {
    const open = lower.indexOf("<noscript", at);
    const close = open < 0 ? -1 : lower.indexOf("</noscript>", open);
    if (close < 0) return MEDIA.test(shown + text.slice(at));
    shown += text.slice(at, open);
    at = close;
  }
}

/** Bytes of visible text, counted until there are more than `bytesMax`. */
function visibleBytes(runs: MarkedPage["runs"], bytesMax: number): number {
  let bytes = 0;
  for (let run = 0; run < runs.count && bytes <= bytesMax; run++)
    bytes += runs.end(run) - runs.start(run);
  return bytes;
}

function latin1(html: Uint8Array): string {
  const length = Math.min(html.length, WALL_BYTES_READ);
  return Buffer.from(html.buffer, html.byteOffset, length).toString("latin1");
}
