/**
 * What a page asks of robots: not to be indexed, not to have its links followed.
 *
 * It may say so in `<meta name="robots">`, in a meta tag named like us, and in X-Robots-Tag
 * headers, there also for one robot by name (`weir: nofollow`). All that concern us are added up,
 * so that the strictest word wins, as Google does it. Case and blanks do not matter; unknown words
 * are ignored.
 */

export interface RobotsTags {
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

export const NO_ROBOTS_TAGS: RobotsTags = { noindex: false, nofollow: false };

/** The name by which robots.txt files and tags address this crawler. */
export const ROBOT_NAME = "weir";

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

/** The X-Robots-Tag headers of an answer, all of them. */
export function readRobotsHeaders(values: readonly string[]): RobotsTags {
  return values.map(readRobotsHeader).reduce(mergeRobotsTags, NO_ROBOTS_TAGS);
}

export function mergeRobotsTags(one: RobotsTags, other: RobotsTags): RobotsTags {
  return {
    noindex: one.noindex || other.noindex,
    nofollow: one.nofollow || other.nofollow,
  };
}

/** One header: a robot's name with a colon holds for what follows it, up to the next name. */
function readRobotsHeader(value: string): RobotsTags {
  let isForUs = true;
  let tags = NO_ROBOTS_TAGS;
  for (const part of value.split(",")) {
    const colon = part.indexOf(":");
    const name = part.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const isNamed = colon !== -1 && !WORDS_WITH_VALUE.has(name);
    if (isNamed) isForUs = name === ROBOT_NAME || name === "*";
    if (isForUs)
      tags = mergeRobotsTags(tags, readRobotsWords(isNamed ? part.slice(colon + 1) : part));
  }
  return tags;
}
