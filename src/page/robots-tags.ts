/**
 * What a page asks of robots: not to be indexed, not to have its links followed.
 *
 * It may say so in `<meta name="robots">`, in a meta tag named like the crawler, and in X-Robots-Tag
 * headers, there also for one robot by name (`weir: nofollow`). The crawler's name is the product
 * token of its user agent, as in robots.txt. All tags for it are added up, so that the strictest
 * word wins, as Google does it. Case and blanks do not matter; unknown words
 * are ignored.
 */

export interface RobotsTags {
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

export const NO_ROBOTS_TAGS: RobotsTags = { noindex: false, nofollow: false };

/** The name by which robots.txt files and tags address a crawler with this user agent, in lower case. */
export function robotNameOf(userAgent: string): string {
  return (/^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? "weir").toLowerCase();
}

/** Words that may stand before a colon without being the name of a robot. */
const WORDS_WITH_VALUE = new Set([
  "unavailable_after",
  "max-snippet",
  "max-image-preview",
  "max-video-preview",
]);

/** The words of one meta tag. */
export function readRobotsWords(content: string): RobotsTags {
  let { noindex, nofollow } = NO_ROBOTS_TAGS;
  for (const part of content.toLowerCase().split(/[\s,;]+/)) {
    if (part === "noindex" || part === "none") noindex = true;
    if (part === "nofollow" || part === "none") nofollow = true;
  }
  return { noindex, nofollow };
}

/** All X-Robots-Tag headers of a response, as far as they are for this robot. */
export function readRobotsHeaders(values: readonly string[], robotName: string): RobotsTags {
  return values
    .map((value) => readRobotsHeader(value, robotName))
    .reduce(mergeRobotsTags, NO_ROBOTS_TAGS);
}

export function mergeRobotsTags(one: RobotsTags, other: RobotsTags): RobotsTags {
  return {
    noindex: one.noindex || other.noindex,
    nofollow: one.nofollow || other.nofollow,
  };
}

/** One header: a robot's name with a colon holds for what follows it, up to the next name. */
function readRobotsHeader(value: string, robotName: string): RobotsTags {
  let isForUs = true;
  let tags = NO_ROBOTS_TAGS;
  for (const part of value.split(",")) {
    const colon = part.indexOf(":");
    const name = part.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const isNamed = colon !== -1 && !WORDS_WITH_VALUE.has(name);
    if (isNamed) isForUs = name === robotName || name === "*";
    if (isForUs)
      tags = mergeRobotsTags(tags, readRobotsWords(isNamed ? part.slice(colon + 1) : part));
  }
  return tags;
}
