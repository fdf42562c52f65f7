import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { type AddressPolicy, isAllowed, PUBLIC_ONLY, readAllowance } from "./address-guard.ts";

/** First and last address of each range, and a public neighbour on either side where there is one. */
type Neighbour = string | undefined;
const SPECIAL: readonly (readonly [string, string, string, Neighbour?, Neighbour?])[] = [
  ["this network", "0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
  ["private 10", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["shared", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["link local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["private 172", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["protocol", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["test net 1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["6to4 relay", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["private 192", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["benchmark", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["test net 2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["test net 3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["multicast", "224.0.0.0", "239.255.255.255", "223.255.255.255", undefined],
  ["reserved", "240.0.0.0", "255.255.255.255", undefined, undefined],
  ["unspecified v6", "::", "::"],
  ["loopback v6", "::1", "::1"],
  ["mapped", "::ffff:0.0.0.0", "::ffff:127.255.255.255", undefined, "::ffff:128.0.0.0"],
  ["nat64", "64:ff9b::", "64:ff9b::ffff:ffff"],
  ["local nat64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["discard", "100::", "100::ffff:ffff:ffff:ffff"],
  ["teredo", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  [
    "documentation v6",
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
  ],
  [
    "6to4",
    "2002::",
    "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2003::",
  ],
  [
    "outside global unicast",
    "4000::",
    "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
  ],
  ["unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["link local v6", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["site local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["multicast v6", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

for (const [name, first, last, before, after] of SPECIAL) {
  test(`${name} is blocked from its first to its last address, its neighbours are not`, () => {
    assert.equal(verdict(first, 80, PUBLIC_ONLY), "blocked");
    assert.equal(verdict(last, 80, PUBLIC_ONLY), "blocked");
    for (const neighbour of [before, after])
      if (neighbour !== undefined)
        assert.equal(verdict(neighbour, 80, PUBLIC_ONLY), "allowed", neighbour);
  });
}

test("every block of 172.16/12 is blocked", () => {
  for (let block = 16; block < 32; block++)
    assert.equal(verdict(`172.${block}.3.4`, 80, PUBLIC_ONLY), "blocked");
});

test("an allowed range opens only itself", () => {
  const policy = allowing("10.1.0.0/16", "fd00:1::/32");
  assert.equal(verdict("10.1.255.255", 80, policy), "allowed");
  assert.equal(verdict("10.2.0.0", 80, policy), "blocked");
  assert.equal(verdict("fd00:1::5", 80, policy), "allowed");
  assert.equal(verdict("fd00:2::5", 80, policy), "blocked");
});

test("a mapped address is judged as the IPv4 address it is", () => {
  const policy = allowing("127.0.0.0/8");
  assert.equal(verdict("::ffff:127.0.0.1", 80, policy), "allowed");
  assert.equal(verdict("::ffff:7f00:1", 80, policy), "allowed");
  assert.equal(verdict("::1", 80, policy), "blocked");
});

test("an allowed tunnel does not lead to a private IPv4 address", () => {
  const policy = allowing("64:ff9b::/96", "2002::/16", "2001::/32");
  assert.equal(verdict("64:ff9b::8.8.8.8", 80, policy), "allowed");
  assert.equal(verdict("64:ff9b::10.0.0.1", 80, policy), "blocked");
  assert.equal(verdict("64:ff9b::a9fe:a9fe", 80, policy), "blocked");
  assert.equal(verdict("2002:808:808::1", 80, policy), "allowed");
  assert.equal(verdict("2002:7f00:1::1", 80, policy), "blocked");
  // Server 8.8.8.8 with client 192.168.0.1, whose bits are turned over.
  assert.equal(verdict("2001:0:808:808:0:0:3f57:fffe", 80, policy), "blocked");
  assert.equal(verdict("2001:0:808:808:0:0:f7f7:f7f7", 80, policy), "allowed");
});

test("metadata addresses stay blocked inside an allowed range, and open when named alone", () => {
  const ranges = allowing("169.254.0.0/16", "100.64.0.0/10", "fd00::/8");
  for (const address of ["169.254.169.254", "100.100.100.200", "fd00:ec2::254"]) {
    assert.equal(verdict(address, 80, ranges), "blocked", address);
    assert.equal(verdict(address, 80, allowing(address)), "allowed", address);
  }
  assert.equal(verdict("::ffff:169.254.169.254", 80, ranges), "blocked");
  assert.equal(verdict("169.254.1.1", 80, ranges), "allowed");
});

test("an allowance with a port opens only that port", () => {
  assert.equal(verdict("127.0.0.1", 8080, allowing("127.0.0.1:8080")), "allowed");
  assert.equal(verdict("127.0.0.1", 80, allowing("127.0.0.1:8080")), "blocked");
});

test("our own port on this machine is blocked even where loopback is allowed", () => {
  const policy = { ...allowing("127.0.0.0/8", "::1"), ownPorts: new Set([8070]) };
  assert.equal(verdict("127.0.0.1", 8070, policy), "blocked");
  assert.equal(verdict("::1", 8070, policy), "blocked");
  assert.equal(verdict("127.0.0.1", 8071, policy), "allowed");
});

test("what is not a plain address is blocked", () => {
  const policy = allowing("0.0.0.0/0", "::/0");
  const spellings = ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "[::1]"];
  for (const text of [...spellings, "", "localhost", "fe80::1%eth0", "１２７.0.0.1", "1.2.3.256"])
    assert.equal(verdict(text, 80, policy), "blocked", text);
});

test("an allowance is read, or refused as a whole", () => {
  assert.equal(readAllowance("10.0.0.0/8")?.prefixBits, 8);
  assert.equal(readAllowance("127.0.0.1:8080")?.port, 8080);
  assert.equal(readAllowance("[::1]:8080")?.port, 8080);
  assert.equal(readAllowance("fd00::/8")?.prefixBits, 8);
  assert.equal(readAllowance("::1")?.prefixBits, 128);
  for (const text of [
    "",
    "10.0.0.0/33",
    "10.0.0/8",
    "host",
    "10.0.0.0/",
    "1.2.3.4:99999",
    "::/129",
  ])
    assert.equal(readAllowance(text), undefined, text);
});

test("an address outside every table of the catalogue is public, and one inside never is", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    for (let round = 0; round < 200; round++) {
      const octets = Array.from({ length: 4 }, () => below(random, 256));
      const text = octets.join(".");
      const inside = SPECIAL.some(
        ([, first, last]) => !first.includes(":") && inOrder(first, text, last),
      );
      const judged = verdict(text, 80, PUBLIC_ONLY);
      if (inside) assert.equal(judged, "blocked", `seed ${seed}: ${text}`);
      assert.equal(verdict(`::ffff:${text}`, 80, PUBLIC_ONLY), judged, `seed ${seed}`);
    }
  }
});

function verdict(address: string, port: number, policy: AddressPolicy): "allowed" | "blocked" {
  return isAllowed(address, port, policy) ? "allowed" : "blocked";
}

function allowing(...entries: readonly string[]): AddressPolicy {
  const allowed = entries.map((entry) => {
    const allowance = readAllowance(entry);
    assert.ok(allowance !== undefined, entry);
    return allowance;
  });
  return { allowed, ownPorts: new Set() };
}

function inOrder(first: string, text: string, last: string): boolean {
  return asNumber(first) <= asNumber(text) && asNumber(text) <= asNumber(last);
}

function asNumber(text: string): number {
  return text.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
}
