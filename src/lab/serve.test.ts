import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { digestOf, groundTruth } from "./ground-truth.ts";
import { serveWorld } from "./serve.ts";

for (const by of ["address", "port"] as const) {
  test(`sites distinguished by ${by} serve exactly the true pages`, async () => {
    await using server = await serveWorld({ seed: 3, siteCount: 4, pagesMax: 60 }, { by });
    for (const truth of groundTruth(server.world)) {
      const response = await fetch(truth.url, { redirect: "manual" });
      const body = new Uint8Array(await response.arrayBuffer());
      if (truth.fate === "redirected") assert.ok(response.headers.has("location"), truth.url);
      if (truth.fate !== "stored") continue;
      assert.equal(response.status, 200, truth.url);
      const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
      assert.deepEqual(sum, new Uint8Array(digestOf(server.world, truth)), truth.url);
    }
  });
}

test("sites distinguished by the Host header are served from one address", async () => {
  await using server = await serveWorld({ seed: 3, siteCount: 2 }, { by: "host" });
  const origin = new URL(server.world.naming.originOf(1));
  assert.equal(await statusOf(origin.port, origin.host, "/"), 200);
  assert.equal(await statusOf(origin.port, origin.host, "/nothing"), 404);
  assert.equal(await statusOf(origin.port, "elsewhere.test", "/"), 421);
});

test("the log has every request with its site, address, path, start and end", async () => {
  await using server = await serveWorld({ seed: 3, siteCount: 2 }, { by: "address" });
  const origin = server.world.naming.originOf(1);
  await (await fetch(`${origin}/robots.txt`)).text();
  await (await fetch(`${origin}/`)).text();
  await server.close();
  const [robots, home] = server.log.entries;
  assert.ok(robots !== undefined && home !== undefined);
  assert.deepEqual(
    [robots.site, robots.address, robots.path],
    [origin, "127.1.0.2", "/robots.txt"],
  );
  assert.deepEqual([home.path, home.status, home.whole], ["/", 200, true]);
  assert.ok(robots.startMs <= robots.endMs && robots.endMs <= home.endMs);
});

test("a paced server sends the same bytes", async () => {
  const plan = { seed: 3, siteCount: 1, latencyMsMin: 1, latencyMsMax: 5, speedBpsMin: 1_000_000 };
  await using server = await serveWorld(plan, { by: "address", paced: true });
  const [home] = groundTruth(server.world);
  assert.ok(home !== undefined);
  const body = new Uint8Array(await (await fetch(home.url)).arrayBuffer());
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  assert.deepEqual(sum, new Uint8Array(digestOf(server.world, home)));
});

function statusOf(port: string, host: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, path, host: "127.0.0.1", headers: { host } },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode));
      },
    );
    request.once("error", reject);
    request.end();
  });
}
