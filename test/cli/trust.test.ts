import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { GOOD, KEY, ROOT, SELF_SIGNED } from "../hostile/certificates.ts";
import { run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];

interface SecureSite extends AsyncDisposable {
  readonly origin: string;
  readonly connections: () => number;
}

/** A home page with one link, behind a certificate of a private authority. */
async function secureSite(options: ServerOptions = {}): Promise<SecureSite> {
  let connections = 0;
  const server = createServer({ cert: GOOD, key: KEY, ...options }, (request, response) => {
    const { authorized } = request.socket as TLSSocket;
    if (request.url === "/robots.txt") response.writeHead(404).end();
    else if (options.requestCert === true && !authorized) response.writeHead(403).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<a href=/next>next</a>");
  });
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pemFile(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test("a private authority: refused at once with the flag, accepted with --ca or SSL_CERT_FILE", async () => {
  await using site = await secureSite();
  using folder = temporaryFolder();
  const ca = pemFile(folder.path, "ca.pem", `a comment\n${ROOT}\n`);
  const words = ["crawl", site.origin, "--fresh", "--out", join(folder.path, "out"), ...LOCAL];

  const refused = await run(words);
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(refused.stdout, /failed: tls_untrusted 1/);
  assert.match(refused.stdout, /tls_untrusted: .*--ca FILE/);
  assert.equal(site.connections(), 1, "a certificate does not become valid by a retry");

  const accepted = await run([...words, "--ca", ca, "--json"]);
  assert.deepEqual((JSON.parse(accepted.stdout) as { outcomes: object }).outcomes, { ok: 2 });
  const variables = { SSL_CERT_FILE: ca };
  const bySystem = await run([...words, "--json"], { variables });
  assert.deepEqual((JSON.parse(bySystem.stdout) as { outcomes: object }).outcomes, { ok: 2 });
});

test("a client certificate is presented to a server that requests one", async () => {
  await using site = await secureSite({ requestCert: true, rejectUnauthorized: false, ca: [ROOT] });
  using folder = temporaryFolder();
  const ca = pemFile(folder.path, "ca.pem", ROOT);
  const cert = pemFile(folder.path, "client.pem", GOOD);
  const key = pemFile(folder.path, "client.key", KEY);
  const both = pemFile(folder.path, "both.pem", `${GOOD}\n${KEY}`);
  const words = ["crawl", site.origin, "--fresh", "--out", join(folder.path, "out"), ...LOCAL];
  const outcomesWith = async (...more: string[]): Promise<object> => {
    const { stdout } = await run([...words, "--ca", ca, "--json", ...more]);
    return (JSON.parse(stdout) as { outcomes: object }).outcomes;
  };
  assert.deepEqual(await outcomesWith(), { http_403: 1 });
  assert.deepEqual(await outcomesWith("--client-cert", cert, "--client-key", key), { ok: 2 });
  assert.deepEqual(await outcomesWith("--client-cert", both), { ok: 2 });
});

test("files of certificates that cannot be used are refused together, each with the remedy", async () => {
  using folder = temporaryFolder();
  const junk = pemFile(folder.path, "junk.pem", "not a certificate\n");
  const damaged = pemFile(folder.path, "damaged.pem", ROOT.replace("MIIB", "AAAA"));
  const cert = pemFile(folder.path, "client.pem", SELF_SIGNED);
  const words = ["crawl", "https://localhost:1/", "--out", join(folder.path, "out"), ...LOCAL];
  const faultOf = async (...more: string[]): Promise<string> => {
    const { code, stderr } = await run([...words, ...more]);
    assert.equal(code, 2, stderr);
    return stderr;
  };
  assert.match(
    await faultOf("--ca", junk),
    /--ca .*junk\.pem: contains no certificate in PEM form/,
  );
  assert.match(await faultOf("--ca", damaged), /its certificate 1 is damaged/);
  const missing = await faultOf("--ca", join(folder.path, "none"), "--client-key", junk);
  assert.match(missing, /--ca .*none: cannot be read/);
  assert.match(missing, /--client-key needs --client-cert/);
  assert.match(await faultOf("--client-cert", cert), /no private key .* --client-key/);
  const other = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----`;
  const key = pemFile(folder.path, "other.key", other);
  assert.match(await faultOf("--client-cert", cert, "--client-key", key), /is not the key of/);
});

test("--nofollow ignore follows marked links and still obeys robots.txt", async () => {
  const page = (text: string) => (response: import("node:http").ServerResponse) => {
    response.writeHead(200, { "content-type": "text/html" }).end(text);
  };
  await using site = await startSite({
    pageCount: 0,
    special: {
      "/robots.txt": (response) => response.end("User-agent: *\nDisallow: /secret"),
      "/": page("<a rel=nofollow href=/a>a</a> <a href=/secret>s</a>"),
      "/a": page("<meta name=robots content=nofollow><a href=/b>b</a>"),
      "/b": page("<a href=/a>a</a>"),
    },
  });
  using folder = temporaryFolder();
  const words = ["crawl", `${site.origin}/`, "--fresh", "--json", "--no-sitemaps", ...LOCAL];
  const outcomesWith = async (choice: string): Promise<object> => {
    const out = join(folder.path, "out");
    const { stdout } = await run([...words, "--out", out, "--nofollow", choice]);
    return (JSON.parse(stdout) as { outcomes: object }).outcomes;
  };
  assert.deepEqual(await outcomesWith("obey"), { ok: 1, robots_denied: 1 });
  assert.deepEqual(await outcomesWith("ignore"), { ok: 3, robots_denied: 1 });
});
