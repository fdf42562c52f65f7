/** Passwords go in by every door; none may come out by any. */

import assert from "node:assert/strict";
import { chmodSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type Ended, LAUNCHER, run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];
const DASHBOARD = "look sites outcomes reasons rates servers search?words=page url?id=1"
  .split(" ")
  .map((name) => `api/${name}`);
/** Every password that is put in has this in it, and what HTTP makes of it at the start of a login. */
const CANARY = /canary-[a-z-]+|dXNlcjpjYW5hcn/;

/** Every file under a folder; archives are unpacked. */
function filesIn(folder: string): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of globSync("**", { cwd: folder })) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    texts[name] = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("latin1");
  }
  return texts;
}

/** Archives hold what servers sent, byte for byte: these blocks are left out. */
function withoutResponses(warc: string): string {
  return warc.replace(
    /^(WARC\/1\.1\r\n(?:.+\r\n)*?WARC-Type: response\r\n(?:.+\r\n)*)\r\n[^]*?(?=WARC\/1\.1\r\n|$(?![^]))/gm,
    "$1",
  );
}

function leaksIn(texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).flatMap(([place, text]) => {
    const own = place.endsWith(".warc.gz") ? withoutResponses(text) : text;
    const leak = CANARY.exec(own)?.[0];
    return leak === undefined ? [] : [`${place}: ${leak}`];
  });
}

async function startServer(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer(respond).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function outputOf(ended: Ended): string {
  return ended.stdout + ended.stderr;
}

test("passwords in addresses, settings, redirects and links are neither written nor shown", async () => {
  const put = (name: string): string => `canary-${name}`;
  const at = (name: string, rest: string): string => `http://user:${put(name)}@${rest}`;
  let host = "";
  const to = (location: string) => (response: ServerResponse) =>
    response.writeHead(302, { location }).end();
  await using site = await startSite({
    pageCount: 3,
    special: {
      "/": (response) => {
        response.writeHead(200, { "content-type": "text/html" });
        response.end(`<title>t</title><link rel=canonical href="${at("canonical", host)}/">
          <meta http-equiv=refresh content="0;url=${at("refresh", host)}/page/3">
          <a href="${at("link", host)}/page/1">1</a><a href="${at("foreign", "host.test/")}">2</a>
          <a href=/there>3</a><a href=/bad>4</a><a href=/ftp>5</a><a href=/out>6</a>`);
      },
      "/there": (response) => to(`${at("location", host)}/page/2`)(response),
      "/bad": (response) => to(at("bad-location", "::::/"))(response),
      "/ftp": (response) => to(at("ftp-location", host).replace("http", "ftp"))(response),
      "/out": (response) => to(at("out-location", "elsewhere.test/"))(response),
    },
  });
  host = new URL(site.origin).host;
  const traced: string[] = [];
  await using collector = await startServer((request, response) => {
    request.setEncoding("utf8").on("data", (part: string) => traced.push(part));
    request.on("end", () => response.end());
  });
  using folder = temporaryFolder();
  const inFolder = (name: string): string => join(folder.path, name);
  writeFileSync(
    inFolder("seeds.txt"),
    `${at("seed-line", host)}/page/2\nftp://user:${put("bad-line")}@${host}/\nuser:${put("no-scheme")}@${host}\n`,
  );
  writeFileSync(
    inFolder("weir.yaml"),
    `natsPassword: ${put("nats-password")}
natsToken: ${put("nats-token")}
dashboardToken: ${put("dashboard-token")}
include: ["${at("include", host)}/*"]
sites:
  - url: ${at("site", host)}/page/1
    delay: 1ms
`,
  );
  const out = inFolder("out");
  const seeds = [`${at("seed", host)}/`, "--seeds", inFolder("seeds.txt")];
  const sinks = ["--out", out, "--log-file", inFolder("log.jsonl"), "--search-index", "--json"];
  const traces = ["--traces", `http://127.0.0.1:${collector.port}`, "--config"];
  const rest = [inFolder("weir.yaml"), "--verbose", "--retries", "0", ...LOCAL];
  const ended = await run(["crawl", ...seeds, ...sinks, ...traces, ...rest]);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stderr, /user name and password in 3 seeds are not used/);
  assert.match(ended.stderr, /weir\.yaml contains a password.*WEIR_NATS_PASSWORD/);
  assert.ok(site.requests.includes("/page/2"), "the addresses themselves are crawled");

  const looks: Record<string, string> = { crawl: outputOf(ended), traces: traced.join("") };
  for (const words of [
    ["status", out, "--json"],
    ["report", out],
    ["search", out, "page"],
    ...["jsonl", "links", "cdxj"].map((format) => ["export", out, "--format", format]),
    ["plan", `${at("planned", host)}/`, "--json"],
  ]) {
    const look = await run(words);
    assert.equal(look.code, 0, `${words.join(" ")}: ${look.stderr}`);
    looks[words.join(" ")] = outputOf(look);
  }
  Object.assign(looks, await dashboardOf(out), filesIn(out), {
    "log.jsonl": readFileSync(inFolder("log.jsonl"), "utf8"),
  });
  assert.match(looks["log.jsonl"] ?? "", /settled/);
  assert.match(looks["traces"] ?? "", /url\.full/);
  assert.deepEqual(leaksIn(looks), []);
});

/** What the dashboard answers at its addresses. */
async function dashboardOf(out: string): Promise<Record<string, string>> {
  const serve = start(["serve", out, "--port", "0"]);
  let text = "";
  serve.process.stdout?.on("data", (part: string) => (text += part));
  await serve.saw(/http:\/\/127\.0\.0\.1:\d+\/\?token=\S+\s/);
  const address = new URL(/http:\S+token=\S+/.exec(text)?.[0] ?? "");
  // The token is given once, for a cookie and the page's own path.
  const door = await fetch(address);
  const cookie = door.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const base = /url=([^"]+)"/.exec(await door.text())?.[1] ?? "";
  const authorization = `Bearer ${address.searchParams.get("token") ?? ""}`;
  const metrics = await fetch(`${address.origin}/metrics`, { headers: { authorization } });
  const answers: Record<string, string> = { metrics: await metrics.text() };
  assert.match(answers["metrics"] ?? "", /^weir_up/m);
  for (const place of DASHBOARD) {
    const answer = await fetch(address.origin + base + place, { headers: { cookie } });
    assert.equal(answer.status, 200, place);
    answers[place] = await answer.text();
  }
  serve.process.kill("SIGINT");
  await serve.ended;
  return answers;
}

test("a password that is refused is not shown, wherever it was put", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "weir.yaml");
  const url = "http://user:canary-x@";
  const words: readonly (readonly string[])[] = [
    ["crawl", `${url}:99999/`, "user:canary-x@host.test", `${url.replace("x", "/x")}host.test/`],
    ["crawl", "http:user:canary-x@", `--contact=${url}host.test/`, `--traces=${url}host.test/`],
    ["crawl", "http://a.test/", `--nats=host:canary-x@host.test`, `--scope=${url}host.test/`],
    ["crawl", "http://a.test/", "--nats-pasword", "canary-x", "--dashboard-token", "canary-x"],
    ["crawl", "http://a.test/", "--proxy", "user:canary-x@host.test", "--seeds", `${url}/a`],
    ["crawl", `${url}127.0.0.1/`],
    ["plan", `${url}:99999/`],
    ["status", `${url}host.test/`],
    [`${url}host.test/`],
    ["crawl", "--config", file],
  ];
  const texts = [
    "natsPassword: *canary-x",
    "natsPassword: !canary-x",
    'natsPassword: "canary-x\nnatsToken: [canary-x',
    `${url}host.test/: {delay: 1s}`,
    `sites: [{url: "${url}:99999/", dealy: 1s}]`,
    "proxy: user:canary-x@host.test\nnatsToken: [canary-x, canary-y]",
  ];
  for (const text of texts) {
    writeFileSync(file, text);
    for (const one of words.slice(text === texts[0] ? 0 : -1)) {
      const ended = await run(one, { folder: folder.path });
      assert.ok(ended.code === 2 || ended.code === 1, `${one.join(" ")}: ${outputOf(ended)}`);
      assert.doesNotMatch(outputOf(ended), CANARY, `${one.join(" ")} with ${text}`);
    }
  }
});

test("the login of a proxy goes to the proxy, and nowhere else", async () => {
  const logins: (string | undefined)[] = [];
  await using proxy = await startServer((request, response) => {
    logins.push(request.headers["proxy-authorization"]);
    const isPage = request.url?.endsWith("/") === true;
    response.writeHead(isPage ? 200 : 404, { "content-type": "text/html" });
    response.end("<title>by proxy</title>");
  });
  using folder = temporaryFolder();
  const variables = { WEIR_PROXY: `http://user:canary-proxy@127.0.0.1:${proxy.port}` };
  for (const procs of ["1", "2"]) {
    const out = join(folder.path, procs);
    const words = ["crawl", "http://site.test/", "--out", out, "--procs", procs, "--verbose"];
    const ended = await run([...words, "--contact", "you@example.org", "--json"], { variables });
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(leaksIn({ ...filesIn(out), output: outputOf(ended) }), []);
  }
  const login = `Basic ${Buffer.from("user:canary-proxy").toString("base64")}`;
  assert.ok(logins.length > 0 && logins.every((one) => one === login));
});

test("the login in a bus URL is not shown when the bus cannot be had", async () => {
  using folder = temporaryFolder();
  for (const login of ["user:canary-bus", "canary-token"]) {
    const nats = ["--nats", `nats://${login}@127.0.0.1:1`, "--out", join(folder.path, "out")];
    const words = ["crawl", "http://site.test/", "--contact", "you@example.org", "--verbose"];
    for (const one of [
      [...words, ...nats],
      ["node", ...nats, "--verbose"],
    ]) {
      const ended = await run(one);
      assert.equal(ended.code, 1, ended.stderr);
      assert.match(ended.stderr, /NATS at nats:\/\/127\.0\.0\.1:1: .*BUS_UNREACHABLE/s);
      assert.deepEqual(leaksIn({ ...filesIn(folder.path), output: outputOf(ended) }), []);
    }
  }
});

test("only its owner can open a crawl's folder, whatever the umask; an open one is closed", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  for (const [procs, umask] of [
    ["1", "000"],
    ["1", "027"],
    ["2", "000"],
  ] as const) {
    const out = join(folder.path, procs + umask, "out");
    const words = `crawl ${site.origin} --out ${out} --procs ${procs} ${LOCAL.join(" ")}`;
    const shell = ["-c", `umask ${umask} && exec ${LAUNCHER} ${words} --search-index`];
    const first = await run(shell, { program: ["sh"] });
    assert.equal(first.code, 0, first.stderr);
    assert.doesNotMatch(outputOf(first), /other users/);
    const folders = [out, ...globSync("**", { cwd: out }).map((name) => join(out, name))].filter(
      (path) => statSync(path).isDirectory(),
    );
    assert.ok(folders.length >= 4, folders.join());
    for (const path of folders) assert.equal(modeOf(path), "700", path);

    chmodSync(out, 0o755);
    const looked = await run(["status", out]);
    assert.equal(looked.code, 0, looked.stderr);
    assert.equal(modeOf(out), "755", "who only looks changes nothing");
    const again = await run(words.split(" "));
    assert.equal(again.code, 0, again.stderr);
    assert.match(
      outputOf(again),
      /the crawl's folder was readable for other users; its mode has been changed/,
    );
    assert.equal(modeOf(out), "700");
  }
  const foreign = join(folder.path, "foreign");
  mkdirSync(foreign);
  chmodSync(foreign, 0o755);
  writeFileSync(join(foreign, "thesis.tex"), "precious");
  assert.equal((await run(["crawl", site.origin, "--out", foreign, ...LOCAL])).code, 2);
  assert.equal(modeOf(foreign), "755");
});

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
