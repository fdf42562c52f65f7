/**
 * URLs that ordinary software makes beside its content: sort orders of listings, actions of wikis, reply links,
 * logins, calendars, print views.
 *
 * The table only says what to request last, and that two worthless pages of a kind are enough to
 * stop (`traps.ts`). Whether such pages are worthless is measured in each crawl, so an entry that is wrong for a site
 * costs no page.
 */

/** Of each software, what it makes beside its content; matched with path and query, whatever their case. */
const PATTERNS: readonly (readonly string[])[] = [
  // Sort orders: Apache's folder listings, and any other list.
  [
    String.raw`\?c=[nmsd][;&]o=[ad]$`,
    String.raw`[?&;](sort|sortby|sort_by|sort_order|order|orderby|order_by|dir|direction)=`,
  ],
  // MediaWiki: special pages, and actions on pages.
  [String.raw`[/=]special:`],
  [
    String.raw`[?&;]action=(edit|history|info|delete|protect|raw|purge|watch|submit|credits|render)\b`,
    String.raw`[?&;](oldid|diff|redlink|veaction|printable|returnto)=`,
  ],
  // DokuWiki.
  [String.raw`[?&;]do=\w+`, String.raw`[?&;](idx|rev|rev2)=`],
  // WordPress.
  [String.raw`[?&;](replytocom|share|like_comment)=`, String.raw`/wp-(login|signup|json)\b`],
  // Logins and accounts.
  [
    String.raw`/(login|log-in|signin|sign-in|logout|register|signup|sign-up)([/.?]|$)`,
    String.raw`/(lostpassword|password-reset)([/.?]|$)`,
  ],
  // Print views.
  [
    String.raw`[?&;](print|printview|printer_friendly|view)=(1|yes|true|print)?(&|;|$)`,
    String.raw`/print([/.?]|$)`,
  ],
  // Calendars.
  [String.raw`[?&;](month|ical|tribe-bar-date|calendar)=`, String.raw`/calendar/\d`],
];

const KINDS = PATTERNS.map((patterns) => new RegExp(patterns.join("|"), "i"));
/** One search for all, because most URLs match none. */
const ANY = new RegExp(PATTERNS.flat().join("|"), "i");

/** Which kind of URL beside the content this is, from 1; 0 for none. */
export function kindBesideContent(path: string, query: string): number {
  const url = query === "" ? path : `${path}?${query}`;
  return ANY.test(url) ? 1 + KINDS.findIndex((kind) => kind.test(url)) : 0;
}
