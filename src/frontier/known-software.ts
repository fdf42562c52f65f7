/**
 * URLs that ordinary software makes beside its content: sort orders of listings, actions of wikis, reply links,
 * logins, calendars, print views.
 *
 * The table only says what to request last, and that two worthless pages of a shape are enough to stop
 * (`traps.ts`). Whether such pages are worthless is measured in each crawl, so an entry that is wrong for a site
 * costs no page.
 */

/** Matched with path and query in lower case. */
const PATTERNS: readonly string[] = [
  // Apache: the columns of a folder listing.
  String.raw`\?c=[nmsd][;&]o=[ad]$`,
  // Any listing.
  String.raw`[?&;](sort|sortby|sort_by|sort_order|order|orderby|order_by|dir|direction)=`,
  // MediaWiki.
  String.raw`[?&;]action=(edit|history|info|delete|protect|raw|purge|watch|submit|credits|render)\b`,
  String.raw`[?&;](oldid|diff|redlink|veaction|printable|returnto)=`,
  String.raw`[/=](special|user_talk|talk):`,
  // DokuWiki.
  String.raw`[?&;]do=\w+`,
  String.raw`[?&;](idx|rev|rev2)=`,
  // WordPress.
  String.raw`[?&;](replytocom|share|like_comment)=`,
  String.raw`/wp-(login|signup|json)\b`,
  // Logins and accounts.
  String.raw`/(login|log-in|signin|sign-in|logout|register|signup|sign-up|lostpassword|password-reset)([/.?]|$)`,
  // Print views.
  String.raw`[?&;](print|printview|printer_friendly|view)=(1|yes|true|print)?(&|;|$)`,
  String.raw`/print([/.?]|$)`,
  // Calendars.
  String.raw`[?&;](month|ical|tribe-bar-date|calendar)=`,
  String.raw`/calendar/\d`,
  // cgit and gitweb.
  String.raw`[?&;](showmsg|ofs|ss|h|a)=`,
];

const KNOWN = new RegExp(PATTERNS.join("|"), "i");

/** Whether a URL looks like one that software makes beside its content. */
export function isBesideContent(path: string, query: string): boolean {
  return KNOWN.test(query === "" ? path : `${path}?${query}`);
}
