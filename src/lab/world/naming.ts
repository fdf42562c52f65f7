/**
 * Host names and IP addresses of a world's sites.
 *
 * Simulated sites have names under `.test` (RFC 6761) and addresses of the benchmark range
 * (198.18.0.0/15, RFC 2544), which are unassigned. Over real sockets a site is a loopback address, a
 * port, or a name in the Host header.
 */

/** How the sites of a world are named. */
export interface Naming {
  /** scheme://host[:port], without a trailing slash. */
  originOf(site: number): string;
  /** The site at `host[:port]`; undefined when no site can have this name. */
  siteOf(authority: string): number | undefined;
  /** IP address of the site's server. */
  addressOf(site: number): string;
}

/**
 * Names sites `http://site7.test`, optionally with several sites per IP address. For simulations.
 *
 * @example
 * import { namedSites, makeWorld, siteAt } from "weir/lab";
 *
 * const world = makeWorld({ siteCount: 2 }, namedSites(4));
 * console.log(siteAt(world, 1).origin);
 */
export function namedSites(sitesPerAddress = 1): Naming {
  return {
    originOf: (site) => `http://site${site}.test`,
    siteOf: (authority) => indexIn(/^site(\d{1,9})\.test$/, authority),
    addressOf: (site) => benchmarkAddress(Math.floor(site / sitesPerAddress)),
  };
}

/**
 * Names sites `http://127.1.0.8:port`, one IP address per site: all of 127.0.0.0/8 is loopback on Linux.
 *
 * @example
 * import { addressedSites, makeWorld, siteAt } from "weir/lab";
 *
 * const world = makeWorld({ siteCount: 2 }, addressedSites(8080));
 * console.log(siteAt(world, 1).origin);
 */
export function addressedSites(port: number): Naming {
  return {
    originOf: (site) => `http://${loopbackAddress(site)}:${port}`,
    siteOf(authority) {
      const match = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5})$/.exec(authority);
      if (match === null || Number(match[4]) !== port) return undefined;
      const site = (Number(match[1]) - 1) * 65_536 + Number(match[2]) * 256 + Number(match[3]) - 1;
      return site >= 0 ? site : undefined;
    },
    addressOf: loopbackAddress,
  };
}

/**
 * Names sites `http://127.0.0.1:port`, one port per site.
 *
 * @example
 * import { makeWorld, portedSites, siteAt } from "weir/lab";
 *
 * const world = makeWorld({ siteCount: 2 }, portedSites([8080, 8081]));
 * console.log(siteAt(world, 1).origin);
 */
export function portedSites(ports: readonly number[]): Naming {
  const siteByPort = new Map(ports.map((port, site) => [port, site]));
  return {
    originOf: (site) => `http://127.0.0.1:${ports[site] ?? 0}`,
    siteOf: (authority) => siteByPort.get(Number(/^127\.0\.0\.1:(\d{1,5})$/.exec(authority)?.[1])),
    addressOf: () => "127.0.0.1",
  };
}

/**
 * Names sites `http://site7.test:port`, distinguished by the Host header; the client must know the IP address.
 *
 * @example
 * import { hostedSites, makeWorld, siteAt } from "weir/lab";
 *
 * const world = makeWorld({ siteCount: 2 }, hostedSites(8080));
 * console.log(siteAt(world, 1).origin);
 */
export function hostedSites(port: number): Naming {
  const named = namedSites();
  return {
    originOf: (site) => `${named.originOf(site)}:${port}`,
    siteOf: (authority) => named.siteOf(authority.replace(/:\d{1,5}$/, "")),
    addressOf: () => "127.0.0.1",
  };
}

function indexIn(pattern: RegExp, authority: string): number | undefined {
  const digits = pattern.exec(authority)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function loopbackAddress(site: number): string {
  const place = site + 1;
  return `127.${1 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}`;
}

function benchmarkAddress(index: number): string {
  const place = index + 1;
  return `198.${18 + ((place >> 16) & 1)}.${(place >> 8) & 255}.${place & 255}`;
}
