/**
 * The unit of politeness: a server as its URLs name it, and the registrable domain.
 *
 * A site is `scheme://host`, with `:port` only if it differs from the scheme's default. A registrable
 * domain is one label more than the longest public suffix; suffixes under which companies give names to
 * others, such as github.io, count, because each name under them has an owner of its own. An
 * IP address or a name without a suffix is its own domain.
 */

import { getDomain } from "tldts";
import { hostOf, pathStart } from "./url.ts";

declare const site: unique symbol;
export type SiteKey = string & { readonly [site]: true };

export function siteOf(url: string): SiteKey {
  return url.slice(0, pathStart(url)) as SiteKey;
}

export function hostOfSite(key: string): string {
  return hostOf(`${key}/`);
}

export function registrableDomain(host: string): string {
  return getDomain(host, SUFFIX_RULES) ?? host;
}

export function domainOf(url: string): string {
  return registrableDomain(hostOf(url));
}

export function domainOfSite(key: string): string {
  return registrableDomain(hostOfSite(key));
}

const SUFFIX_RULES = { allowPrivateDomains: true, extractHostname: false };
