/**
 * What results can be narrowed to (site, language, topic), as words of the index that nobody types.
 *
 * A facet is a word like any other to the index, without letters, so a filter costs what one more
 * word costs, and no second index is kept.
 */

import { fingerprintOf } from "../url/fingerprint.ts";
import { hostOf } from "../url/url.ts";
import type { WordName } from "./search-segment.ts";

export interface Facets {
  readonly site: string | undefined;
  readonly language: string | undefined;
  readonly topic: string | undefined;
}

const HOSTS_KEPT_MAX = 4_096;
const LABELS_MAX = 10;
const namesByHost = new Map<string, readonly WordName[]>();

/** All facets of a page. */
export function facetsOf(page: {
  readonly url: string;
  readonly language: string;
  readonly topic: string;
}): readonly WordName[] {
  const names = hostFacets(page.url);
  if (page.language === "" && page.topic === "") return names;
  const topic = page.topic === "" ? [] : [topicFacet(page.topic)];
  return [...names, ...languageFacets(page.language), ...topic];
}

/** What a page must have to pass. */
export function requiredFacets(facets: Facets): WordName[] {
  const { site, language, topic } = facets;
  const required: WordName[] = [];
  if (site !== undefined) required.push(hashed("s", hostNamed(site)));
  if (language !== undefined) required.push(hashed("l", language.toLowerCase()));
  if (topic !== undefined) required.push(topicFacet(topic));
  return required;
}

export function topicFacet(topic: string): WordName {
  return hashed("t", topic.toLowerCase());
}

/** A host and all names above it: who asks for example.org means www.example.org too. */
function hostFacets(url: string): readonly WordName[] {
  const host = hostOf(url);
  const kept = namesByHost.get(host);
  if (kept !== undefined) return kept;
  const isName = /[a-z]/.test(host) && !host.startsWith("[");
  const labels = isName ? host.split(".").slice(-LABELS_MAX) : [host];
  const names = labels.map((_, index) => labels.slice(index).join("."));
  // The last label alone says too little to be worth a word, unless it is all there is.
  if (names.length > 1) names.pop();
  if (!names.includes(host)) names.push(host);
  const facets = names.map((name) => hashed("s", name));
  if (namesByHost.size >= HOSTS_KEPT_MAX) namesByHost.clear();
  namesByHost.set(host, facets);
  return facets;
}

/** en-GB is English too. */
function languageFacets(language: string): WordName[] {
  if (language === "") return [];
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

/** A blank keeps them apart from all words. */
function hashed(kind: string, name: string): WordName {
  const { high, low } = fingerprintOf(`${kind} ${name}`);
  return { high: high | 0, low: low | 0 };
}
