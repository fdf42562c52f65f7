import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ROOT, run, type Running, start, temporaryFolder } from "../cli/program.ts";
import { startSite } from "../cli/small-site.ts";
import { errorsIn, hoverTexts } from "../docs/editor.ts";

/** npm starts whatever `node` is first in the path; here it must be the one under test. */
const VARIABLES = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
  npm_config_loglevel: "error",
};

function npm(folder: string, ...words: string[]): string {
  return execFileSync("npm", words, { cwd: folder, env: VARIABLES, encoding: "utf8" });
}

test("the package installs into an empty folder, crawls, and can be imported", async () => {
  using folder = temporaryFolder();
  await using site = await startSite({ pageCount: 3 });
  const [packed] = JSON.parse(npm(ROOT, "pack", "--json", "--pack-destination", folder.path)) as {
    filename: string;
    files: { path: string }[];
  }[];
  assert.ok(packed !== undefined);
  for (const { path } of packed.files)
    assert.match(
      path,
      /^(dist\/.*\.(js|d\.ts)|dist\/dashboard\/page\/[a-z]+\.(html|css|svg)|models\/[a-z-]+\.model|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
    );
  assert.ok(
    !packed.files.some(({ path }) => /\.(test|suite|child)\./.test(path)),
    "no tests inside",
  );

  const home = join(folder.path, "home");
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), '{ "private": true, "type": "module" }');
  npm(home, "install", "--no-audit", "--no-fund", join(folder.path, packed.filename));

  const installed: [string] = [join(home, "node_modules/.bin/weir")];
  const place = { folder: home, program: installed, variables: { PATH: VARIABLES.PATH } };
  const version = await run(["--version"], place);
  assert.equal(version.code, 0, version.stderr);
  const local = ["--allow-private", "127.0.0.0/8", "--json"];
  const crawl = await run(["crawl", site.origin, ...local], place);
  assert.equal(crawl.code, 0, crawl.stderr);
  assert.equal((JSON.parse(crawl.stdout) as { pages: number }).pages, 4);

  const [crawlFolder = ""] = readdirSync(join(home, "weir-data")).map(
    (name) => `weir-data/${name}`,
  );
  await showsItself(start(["serve", crawlFolder, "--port", "0"], place));

  const script = join(home, "use.js");
  writeFileSync(
    script,
    `import { crawl } from "weir";
     import * as lab from "weir/lab";
     if (Object.keys(lab).length === 0) throw new Error("the lab is empty");
     const titles = [];
     for await (const page of crawl({ urls: [process.argv[2]], allowPrivate: ["127.0.0.0/8"] }))
       titles.push(page.title);
     console.log(JSON.stringify(titles.sort()));`,
  );
  const use = await run([script, site.origin], { program: [process.execPath], folder: home });
  assert.equal(use.code, 0, use.stderr);
  assert.deepEqual(JSON.parse(use.stdout), ["Page 0", "Page 1", "Page 2", "Page 3"]);

  const program = `import { crawl } from "weir";\ncrawl({ urls: [], limitBps: 2e6 });\n`;
  assert.deepEqual(errorsIn(home, { "use.ts": program }, {}), []);
  const texts = await hoverTexts(home, program, ["limitBps"], {});
  assert.match(texts.get("limitBps") ?? "", /bytes received per second[^]*--limit RATE/);
});

test("a Node that is too old is told so in words", async (t) => {
  const path = (process.env["PATH"] ?? "")
    .split(":")
    .filter((part) => !part.includes("node_modules"));
  const old = spawnSync("node", ["--version"], { env: { PATH: path.join(":") }, encoding: "utf8" });
  if (!/^v(1[4-9]|2[0-3])\./.test(old.stdout ?? "")) return t.skip("needs an old Node in the path");
  using folder = temporaryFolder();
  const config = ["-p", "tsconfig.build.json", "--outDir", join(folder.path, "dist")];
  execFileSync(join(ROOT, "node_modules/.bin/tsc"), config, { cwd: ROOT });
  writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
  const { code, stderr } = await run([join(folder.path, "dist/cli/main.js"), "--version"], {
    program: ["node"],
    variables: { PATH: path.join(":") },
  });
  assert.equal(code, 2);
  assert.match(stderr, /needs Node 24 or later.*RUNTIME_OLD/);
  return undefined;
});

/** The page of a built package, with every module it begins from. */
async function showsItself(serve: Running): Promise<void> {
  let text = "";
  serve.process.stdout?.on("data", (part: string) => (text += part));
  await serve.saw("Ctrl-C ends");
  const address = new URL(/http:\S+/.exec(text)?.[0] ?? "");
  const [cookie = ""] = (await fetch(address)).headers.getSetCookie();
  const base = new URL(/Path=([^;]+)/.exec(cookie)?.[1] ?? "", address);
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  const page = await (await fetch(base, { headers })).text();
  const paths = [...page.matchAll(/(?:src|href)="(app\/[^"]+)"/g)].map(([, path]) => path ?? "");
  assert.ok(paths.some((path) => path.endsWith("/main.js")));
  for (const path of paths)
    assert.equal((await fetch(new URL(path, base), { headers })).status, 200, path);
  serve.process.kill("SIGINT");
  assert.equal((await serve.ended).code, 0);
}
