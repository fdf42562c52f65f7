/**
 * What results can be narrowed to (site, language, topic), as words of the index that nobody types.
 *
 * A facet is a word like any other to the full-text table, so a filter costs what one more word
 * costs, and no second index is kept. Names are hashed: a host is one word, whatever stands in it.
 */

import { fingerprintOf } from "../url/fingerprint.ts";
import { hostOf } from "../url/url.ts";

export interface Facets {
  readonly site: string | undefined;
  readonly language: string | undefined;
  readonly topic: string | undefined;
}

const HOSTS_KEPT_MAX = 4_096;
const LABELS_MAX = 10;
const wordsByHost = new Map<string, string>();

/** All facets of a page, one blank between them. */
export function facetWords(page: {
  readonly url: string;
  readonly language: string;
  readonly topic: string;
}): string {
  const words = [hostWords(page.url)];
  if (page.language !== "") words.push(...languageWords(page.language));
  if (page.topic !== "") words.push(topicWord(page.topic));
  return words.join(" ");
}

/** The words that a page must have to pass. */
export function requiredFacets(facets: Facets): string[] {
  const { site, language, topic } = facets;
  const required: string[] = [];
  if (site !== undefined) required.push(hashed("s", hostNamed(site)));
  if (language !== undefined) required.push(hashed("l", language.toLowerCase()));
  if (topic !== undefined) required.push(topicWord(topic));
  return required;
}

export function topicWord(topic: string): string {
  return hashed("t", topic.toLowerCase());
}

/** A host and all names above it: who asks for example.org means www.example.org too. */
function hostWords(url: string): string {
  const host = hostOf(url);
  const kept = wordsByHost.get(host);
  if (kept !== undefined) return kept;
  const isName = /[a-z]/.test(host) && !host.startsWith("[");
  const labels = isName ? host.split(".").slice(-LABELS_MAX) : [host];
  const names = labels.map((_, index) => labels.slice(index).join("."));
  // The last label alone says too little to be worth a word, unless it is all there is.
  if (names.length > 1) names.pop();
  if (!names.includes(host)) names.push(host);
  const words = names.map((name) => hashed("s", name)).join(" ");
  if (wordsByHost.size >= HOSTS_KEPT_MAX) wordsByHost.clear();
  wordsByHost.set(host, words);
  return words;
}

/** en-GB is English too. */
function languageWords(language: string): string[] {
  const tag = language.toLowerCase();
  const [primary = tag] = tag.split("-", 1);
  return primary === tag ? [hashed("l", tag)] : [hashed("l", primary), hashed("l", tag)];
}

/** Takes `example.org`, `https://example.org` and `https://example.org/a` alike. */
function hostNamed(site: string): string {
  const text = site.trim().toLowerCase();
  const parsed = URL.parse(text.includes("://") ? text : `http://${text}`);
  return parsed?.hostname ?? text;
}

function hashed(kind: string, name: string): string {
  const { high, low } = fingerprintOf(name);
  return `${kind}${high.toString(36)}${low.toString(36)}`;
}
