/**
 * Names to addresses, as a socket.
 *
 * A resolver returns only addresses that may be connected to, so that the address that was checked
 * is the one that is used. It never throws for the behaviour of a name server.
 */

export type ResolverFailure =
  | "dns_nxdomain"
  | "dns_timeout"
  | "dns_error"
  | "ssrf_blocked"
  | "local_resource";

export type Resolution =
  | {
      readonly kind: "addresses";
      /** At least one, at most eight, the one to try first in front. */
      readonly addresses: readonly string[];
    }
  | { readonly kind: "failed"; readonly reason: ResolverFailure; readonly detail: string };

export interface Resolver {
  /** `host` as in a canonical URL: a name, an IPv4 address or a bracketed IPv6 address. */
  resolve(host: string, port: number): Promise<Resolution>;
  /** The IPv6 addresses of a name whose IPv4 addresses cannot be connected to. */
  resolveIPv6?(host: string, port: number): Promise<Resolution>;
}
