/** Settings for the network: connections, timeouts, and the sizes of responses. */

import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KIB = 2 ** 10;
const GIB = 2 ** 30;
const COMMA_OR_SPACE = /[\s,]+/;

export const NETWORK = {
  connectionsMax: {
    key: "connections",
    meaning:
      "Most requests at the same time, over all sites. Fewer, with a message, where the system's limit of open files (`ulimit -n`) allows no more.",
    fallback: "64",
    reader: read.integer({ least: 1, most: 16_384 }),
  },
  allowPrivate: {
    key: "allowPrivate",
    meaning:
      "Private or loopback address ranges that may be crawled, such as 127.0.0.0/8; all others are refused.",
    reader: read.addressRange,
    separator: COMMA_OR_SPACE,
  },
  insecureTls: {
    key: "insecureTls",
    meaning: "Accept certificates that cannot be verified; such pages are marked.",
    fallback: "false",
    reader: read.onOff,
  },
  caFile: {
    key: "ca",
    meaning:
      "Certificates of authorities (PEM) that sign for your sites, such as a company's own. Accepted besides those of Node and of the system (`SSL_CERT_FILE`).",
    reader: read.words("FILE", "a file"),
  },
  clientCertFile: {
    key: "clientCert",
    meaning: "Client certificate (PEM), presented to every site that requests one.",
    reader: read.words("FILE", "a file"),
  },
  clientKeyFile: {
    key: "clientKey",
    meaning:
      "Private key of the client certificate (PEM, without passphrase), if it is in another file.",
    reader: read.words("FILE", "a file"),
  },
  proxy: {
    key: "proxy",
    meaning:
      "Send every request through this proxy, which looks names up itself. User and password in the URL are used to log in and never shown.",
    reader: read.proxyUrl,
    secret: true,
  },
  cookies: {
    key: "cookies",
    meaning: "Store cookies during the run and return them to the site that set them.",
    fallback: "false",
    reader: read.onOff,
  },
  retriesMax: {
    key: "retries",
    meaning:
      "Most retries of a URL that fails while its site responds, if a retry could help. Failures of the site cost its URLs nothing.",
    fallback: "3",
    reader: read.integer({ least: 0, most: 20 }),
  },
  redirectsMax: {
    key: "redirects",
    meaning: "Most redirects followed in a row.",
    fallback: "5",
    reader: read.integer({ least: 0, most: 20 }),
  },
  bodyBytesMax: {
    key: "bodyMax",
    meaning: "Most bytes read of one response body; a longer one fails.",
    fallback: "8MiB",
    reader: read.size({ least: KIB, most: GIB }),
  },
  decodedBytesMax: {
    key: "decodedMax",
    meaning: "Most bytes of one body after decompression.",
    fallback: "16MiB",
    reader: read.size({ least: KIB, most: GIB }),
  },
  connectTimeoutMs: {
    key: "connectTimeout",
    meaning: "Timeout for connecting.",
    fallback: "10s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  tlsTimeoutMs: {
    key: "tlsTimeout",
    meaning: "Timeout for the TLS handshake.",
    fallback: "10s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  firstByteTimeoutMs: {
    key: "firstByteTimeout",
    meaning: "Timeout for the first byte of a response.",
    fallback: "20s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  idleTimeoutMs: {
    key: "idleTimeout",
    meaning: "Longest pause within a body.",
    fallback: "15s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  totalTimeoutMs: {
    key: "totalTimeout",
    meaning: "Timeout for a whole request.",
    fallback: "30s",
    reader: read.duration({ least: 10, most: DAY }),
  },
  speedFloorBps: {
    key: "speedFloor",
    meaning: "Give up a body that is slower than this on average; 0 turns this off.",
    fallback: "1KiB/s",
    reader: read.rate({ least: 0, most: GIB }),
  },
} as const satisfies FieldTable;
