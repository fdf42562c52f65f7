/** Settings for several machines: where they meet, and their names and passwords. */

import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";

const name = (expects: string): ReturnType<typeof read.headerText> =>
  read.headerText("NAME", expects, /^[^\s].{0,62}$/);

export const CLUSTER = {
  natsServers: {
    key: "nats",
    meaning:
      "NATS servers with JetStream that connect the nodes of a cluster: nats://host:4222, or tls:// to require TLS. User and password or a token in the URL are used to log in and never shown.",
    reader: read.headerText(
      "URL",
      "a URL, such as nats://127.0.0.1:4222",
      /^(nats|tls|wss?):\/\/[^\s]+$/,
    ),
    separator: /\s*,\s*|\s+/,
  },
  crawlName: {
    key: "crawl",
    meaning: "Name of the crawl in the cluster; several crawls can share a NATS server.",
    fallback: "weir",
    reader: name("a name of up to 63 characters"),
  },
  nodeName: {
    key: "node",
    meaning:
      "Name of this node in the cluster. By default the host name and a number stored in the folder.",
    reader: name("a name of up to 63 characters"),
  },
  nodeTimeoutMs: {
    key: "nodeTimeout",
    meaning:
      "A node that sends nothing for this time is considered lost, and the others take over its part. A node that cannot reach the others continues for four fifths of it.",
    fallback: "13m",
    reader: read.duration({ least: 5_000, most: 86_400_000 }),
  },
  natsCredentialsFile: {
    key: "natsCredentials",
    meaning: "NATS credentials file, as made by `nsc`.",
    reader: read.words("FILE", "a file"),
  },
  natsNkeyFile: {
    key: "natsNkey",
    meaning: "File with an NKey seed.",
    reader: read.words("FILE", "a file"),
  },
  natsUser: {
    key: "natsUser",
    meaning: "User name for NATS.",
    reader: read.words("NAME", "a name"),
  },
  natsPassword: {
    key: "natsPassword",
    meaning: "Password for NATS. The variable WEIR_NATS_PASSWORD is safer than a command line.",
    reader: read.words("TEXT", "a password"),
    secret: true,
  },
  natsToken: {
    key: "natsToken",
    meaning:
      "Token for NATS instead of a user. The variable WEIR_NATS_TOKEN is safer than a command line.",
    reader: read.words("TEXT", "a token"),
    secret: true,
  },
  natsCaFile: {
    key: "natsCa",
    meaning: "CA certificates to verify the NATS server (PEM).",
    reader: read.words("FILE", "a file"),
  },
  natsCertFile: {
    key: "natsCert",
    meaning: "Client certificate for NATS (PEM).",
    reader: read.words("FILE", "a file"),
  },
  natsKeyFile: {
    key: "natsKey",
    meaning: "Private key of the client certificate (PEM).",
    reader: read.words("FILE", "a file"),
  },
  natsDomain: {
    key: "natsDomain",
    meaning: "JetStream domain, if the server is a leaf node and another one stores.",
    reader: read.words("NAME", "a name"),
  },
  natsReplicas: {
    key: "natsReplicas",
    meaning: "NATS servers that store a copy of the data.",
    fallback: "1",
    reader: read.integer({ least: 1, most: 5 }),
  },
} as const satisfies FieldTable;
