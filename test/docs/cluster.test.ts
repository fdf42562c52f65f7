/**
 * Goes through the documents' steps for several machines, as they are written: certificates, server, nodes, crawl.
 *
 * The servers' files and the nodes' variables are those of `docs/cluster/`, passwords and all. What is another machine there is
 * another folder here, and `hub.example` is this machine.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Ended, ROOT, run, temporaryFolder } from "../cli/program.ts";
import { freePort, NATS_MISSING, NatsServer } from "../cluster/nats-server.ts";
import { startAnyWeb } from "./any-web.ts";
import { chapters } from "./lines.ts";

const LINES = chapters().flatMap(({ lines }) => lines);
const CRAWL_TIME = "20s";

test("the commands for several nodes are one crawl", { skip: NATS_MISSING }, async () => {
  await using web = await startAnyWeb();
  await using server = await NatsServer.start();
  for (const crawl of ["try", "news"]) {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "sites.txt"), web.here("https://example.org/\n"));
    const lines = LINES.filter(
      (line) => /--nats nats:/.test(line) && line.includes(`--crawl ${crawl}`),
    );
    assert.ok(lines.length >= 2, `${crawl}: ${lines.length} commands`);
    // Nodes of one machine share neither a folder nor a name.
    const written = lines.map((line, at) => {
      const here = web.here(line).replace(/nats:\/\/[\d.]+:4222/, server.url);
      return `${here.replace(/ --out \S+/, "")} --out node-${at} --node node-${at}`;
    });
    judge(await Promise.all(written.map((line) => weir(line, folder.path))));
  }
});

test("the steps for three machines lead to a crawl", { skip: NATS_MISSING }, async () => {
  await using web = await startAnyWeb();
  using folder = temporaryFolder();
  const here = (text: string, port: number, leafPort = 0): string =>
    text
      .replaceAll("hub.example", "localhost")
      .replaceAll("0.0.0.0:", "127.0.0.1:")
      .replaceAll(":4222", `:${port}`)
      .replaceAll(":7422", `:${leafPort}`)
      .replaceAll(/\/(etc\/nats|var\/lib\/(nats|weir))\b/g, folder.path);
  for (const line of LINES.filter((one) => /^(openssl|printf)\b/.test(one)))
    execFileSync("sh", ["-ec", here(line, 0)], { cwd: folder.path, stdio: "pipe" });

  const leafPort = await freePort();
  await using hub = await NatsServer.start({ jetstream: false });
  await hub.configure(() => here(fileOf("nats-server.conf"), hub.port, leafPort));
  await hub.restart();
  await using leaf = await NatsServer.start({ jetstream: false });
  await leaf.configure(() => here(fileOf("nats-leaf.conf"), leaf.port, leafPort));
  await leaf.restart();

  writeFileSync(
    join(folder.path, "sites.txt"),
    web.here("https://example.org/\nhttps://docs.example/\n"),
  );
  const [written = ""] = LINES.filter((line) => /--nats tls:/.test(line));
  const crawl = here(written, hub.port);
  const denied = await weir(crawl, folder.path, { WEIR_NATS_PASSWORD: "CHANGE-ME-2" });
  assert.match(denied.stderr, /BUS_DENIED/);
  const variables = variablesIn(here(fileOf("node.env"), hub.port));
  const { url } = leaf;
  judge(
    await Promise.all([
      weir(crawl, folder.path, { WEIR_NATS_PASSWORD: "CHANGE-ME-1" }),
      weir("weir node --out two", folder.path, variables),
      weir(
        `weir node --out far --node far --crawl news --nats ${url} --nats-domain hub`,
        folder.path,
      ),
    ]),
  );
});

function fileOf(name: string): string {
  return readFileSync(join(ROOT, "docs/cluster", name), "utf8");
}

function variablesIn(file: string): Record<string, string> {
  const lines = file.split("\n").filter((line) => line.startsWith("WEIR_"));
  return Object.fromEntries(lines.map((line) => line.split("=") as [string, string]));
}

function weir(line: string, folder: string, more: Record<string, string> = {}): Promise<Ended> {
  const variables = {
    WEIR_ALLOW_PRIVATE: "127.0.0.0/8",
    WEIR_TIME: CRAWL_TIME,
    WEIR_DELAY: "100ms",
    ...more,
  };
  return run(line.split(" ").slice(1), { folder, variables });
}

function judge(ended: readonly Ended[]): void {
  for (const { code, stderr } of ended) assert.equal(code, 0, stderr);
}
