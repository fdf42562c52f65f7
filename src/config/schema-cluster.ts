/** Settings about several machines: where they meet, and who they are. */

import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";

const name = (expects: string): ReturnType<typeof read.headerText> =>
  read.headerText("NAME", expects, /^[^\s].{0,62}$/);

export const CLUSTER = {
  natsServers: {
    key: "nats",
    meaning:
      "NATS servers with JetStream where the nodes of a cluster meet: nats://host:4222, or tls:// to insist on TLS. A user and password in the URL, or a token, are used for logging in and never shown.",
    fallback: undefined,
    reader: read.headerText(
      "URL",
      "an address, such as nats://127.0.0.1:4222",
      /^(nats|tls|wss?):\/\/[^\s]+$/,
    ),
    separator: /\s*,\s*|\s+/,
  },
  crawlName: {
    key: "crawl",
    meaning: "The name of the crawl in the cluster. Crawls of different names do not meet.",
    fallback: "weir",
    reader: name("a name of up to 63 characters"),
  },
  nodeName: {
    key: "node",
    meaning:
      "The name of this node in the cluster. By default the machine's, with a number that its folder keeps.",
    fallback: undefined,
    reader: name("a name of up to 63 characters"),
  },
  nodeTimeoutMs: {
    key: "nodeTimeout",
    meaning:
      "A node that was silent for so long is lost: the others take over its part of the web.",
    fallback: "60s",
    reader: read.duration({ least: 5_000, most: 86_400_000 }),
  },
  natsCredentialsFile: {
    key: "natsCredentials",
    meaning: "A credentials file for NATS, as `nsc` makes them.",
    fallback: undefined,
    reader: read.words("FILE", "a file"),
  },
  natsNkeyFile: {
    key: "natsNkey",
    meaning: "A file with the seed of a NATS key.",
    fallback: undefined,
    reader: read.words("FILE", "a file"),
  },
  natsUser: {
    key: "natsUser",
    meaning: "A user's name at the NATS server.",
    fallback: undefined,
    reader: read.words("NAME", "a name"),
  },
  natsPassword: {
    key: "natsPassword",
    meaning: "And the password: better in the variable WEIR_NATS_PASSWORD than on a command line.",
    fallback: undefined,
    reader: read.words("TEXT", "a password"),
    secret: true,
  },
  natsToken: {
    key: "natsToken",
    meaning: "A token instead of a user: better in the variable WEIR_NATS_TOKEN.",
    fallback: undefined,
    reader: read.words("TEXT", "a token"),
    secret: true,
  },
  natsCaFile: {
    key: "natsCa",
    meaning: "Certificates that the NATS server's is checked against (PEM).",
    fallback: undefined,
    reader: read.words("FILE", "a file"),
  },
  natsCertFile: {
    key: "natsCert",
    meaning: "Our own certificate for the NATS server (PEM).",
    fallback: undefined,
    reader: read.words("FILE", "a file"),
  },
  natsKeyFile: {
    key: "natsKey",
    meaning: "And its key (PEM).",
    fallback: undefined,
    reader: read.words("FILE", "a file"),
  },
  natsDomain: {
    key: "natsDomain",
    meaning:
      "The JetStream domain, where the server at hand is a leaf node and another one stores.",
    fallback: undefined,
    reader: read.words("NAME", "a name"),
  },
  natsReplicas: {
    key: "natsReplicas",
    meaning: "NATS servers that keep a copy of what is stored there.",
    fallback: "1",
    reader: read.integer({ least: 1, most: 5 }),
  },
} as const satisfies FieldTable;
