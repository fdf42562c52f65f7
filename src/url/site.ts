/**
 * The unit of politeness: one server as its URLs name it, and the domain somebody registered.
 *
 * A site is `scheme://host`, with `:port` only where it is not the scheme's own. A registrable
 * domain is one label more than the longest public suffix; suffixes that companies lend to
 * strangers, such as github.io, count, since each name under them has an owner of its own. An
 * address or a name without a suffix stands for itself.
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
