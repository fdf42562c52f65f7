/**
 * Decides whether an IP address may be connected to, so that no link can turn the crawler on its
 * own network.
 *
 * The decision is made on the address, never on a name, and everything that is not plain public
 * unicast is refused, unknown ranges included. An IPv4 address inside an IPv6 one (mapped, NAT64,
 * 6to4, Teredo) is extracted and judged by itself.
 *
 * Promises:
 *   1. special ranges of IPv4 and IPv6 are refused unless the operator's list names them;
 *   2. a cloud's metadata address is refused even inside an allowed range, unless named alone;
 *   3. our own ports on this machine are refused, whatever the list says.
 *
 * Ports of other protocols need no rule here: no canonical URL has one.
 *
 * It is called once per DNS answer and once per literal address: a few microseconds each.
 */

import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** One entry of the operator's list: a range, or one address, with or without a port. */
export interface Allowance {
  readonly network: Address;
  readonly prefixBits: number;
  readonly port: number | undefined;
}

export interface AddressPolicy {
  readonly allowed: readonly Allowance[];
  /** Ports this program listens on: loopback may be allowed for a test site, these never are. */
  readonly ownPorts: ReadonlySet<number>;
}

export const PUBLIC_ONLY: AddressPolicy = { allowed: [], ownPorts: new Set() };

const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Addresses behind which clouds keep the credentials of their machines. */
const METADATA = new Set(
  [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fe80::a9fe:a9fe",
  ].map((text) => ipaddr.parse(text).toNormalizedString()),
);

/** Reads `10.0.0.0/8`, `127.0.0.1`, `127.0.0.1:8080`, `[::1]:8080`, `fd00::/8`. */
export function readAllowance(text: string): Allowance | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+)|([^[\]]+))(?::(\d{1,5}))?$/.exec(text.trim());
  if (match === null) return undefined;
  const range = match[1] ?? match[2] ?? match[3] ?? "";
  const port = match[4] === undefined ? undefined : Number(match[4]);
  if (port !== undefined && port > 65_535) return undefined;
  const [network = "", bits] = range.split("/", 2);
  const parsed = parseStrictly(network);
  if (parsed === undefined || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const bitsMax = parsed.kind() === "ipv4" ? 32 : 128;
  const prefixBits = bits === undefined ? bitsMax : Number(bits);
  return prefixBits > bitsMax ? undefined : { network: parsed, prefixBits, port };
}

export function isAllowed(text: string, port: number, policy: AddressPolicy): boolean {
  const address = parseStrictly(text);
  if (address === undefined) return false;
  const judged = [address, ...embeddedIn(address)];
  if (policy.ownPorts.has(port) && judged.some(isThisMachine)) return false;
  return judged.every((each) => mayBeReached(each, port, policy));
}

/** Without octal, hexadecimal or short forms: canonical URLs and resolvers never give those. */
function parseStrictly(text: string): Address | undefined {
  if (text.includes("%")) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function mayBeReached(address: Address, port: number, policy: AddressPolicy): boolean {
  const metadata = METADATA.has(address.toNormalizedString());
  if (isPublic(address) && !metadata) return true;
  return policy.allowed.some(
    (allowance) => covers(allowance, address, port) && (!metadata || isOneAddress(allowance)),
  );
}

/** Whether all that `wanted` names may be reached where `own` is the operator's list. */
export function isWithin(wanted: Allowance, own: readonly Allowance[]): boolean {
  const { network, prefixBits, port } = wanted;
  const isMetadata = isOneAddress(wanted) && METADATA.has(network.toNormalizedString());
  return own.some((range) => {
    if (range.port !== undefined && range.port !== port) return false;
    const isNarrower = prefixBits >= range.prefixBits && covers(range, network, port ?? 0);
    return isNarrower && (!isMetadata || isOneAddress(range));
  });
}

function isPublic(address: Address): boolean {
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(...GLOBAL_UNICAST_V6);
}

function covers(allowance: Allowance, address: Address, port: number): boolean {
  if (allowance.port !== undefined && allowance.port !== port) return false;
  const { network, prefixBits } = allowance;
  if (network instanceof ipaddr.IPv4)
    return address instanceof ipaddr.IPv4 && address.match(network, prefixBits);
  return address instanceof ipaddr.IPv6 && address.match(network, prefixBits);
}

function isOneAddress({ network, prefixBits }: Allowance): boolean {
  return prefixBits === (network.kind() === "ipv4" ? 32 : 128);
}

function isThisMachine(address: Address): boolean {
  const range = address.range();
  return range === "loopback" || range === "unspecified";
}

/** The IPv4 addresses that an IPv6 address would lead to through a translator or a tunnel. */
function embeddedIn(address: Address): Address[] {
  if (address instanceof ipaddr.IPv4) return [];
  // :: and ::1 would read as 0.0.0.0 and 0.0.0.1, but are names of this machine and embed nothing.
  if (address.range() === "loopback" || address.range() === "unspecified") return [];
  const [first = 0, second = 0, third = 0, , , , seventh = 0, eighth = 0] = address.parts;
  // IPv4-compatible (::/96), IPv4-translated (::ffff:0:0/96) and both NAT64 prefixes end in it.
  const endsInV4 =
    (first === 0 && second === 0 && third === 0) || (first === 0x64 && second === 0xff9b);
  if (endsInV4) return [v4From(seventh, eighth)];
  if (first === 0x2002) return [v4From(second, third)];
  // Teredo names its server in clear and its client with all bits turned over (RFC 4380).
  if (first === 0x2001 && second === 0)
    return [v4From(third, address.parts[3] ?? 0), v4From(seventh ^ 0xffff, eighth ^ 0xffff)];
  return [];
}

function v4From(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
