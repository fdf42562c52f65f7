import assert from "node:assert/strict";
import { test } from "node:test";
import { type Asked, Guard } from "./guard.ts";

const HOST = "127.0.0.1:8674";

function guarded(): { readonly guard: Guard; readonly asked: Asked; readonly cookie: string } {
  const guard = new Guard({ hostName: undefined, token: undefined });
  const cookie = guard.cookie.split(";")[0] ?? "";
  const asked: Asked = {
    method: "GET",
    path: `${guard.base}api/look`,
    headers: { host: HOST, cookie },
    localAddress: "127.0.0.1",
    tokenInQuery: undefined,
  };
  return { guard, asked, cookie };
}

function statusOf(guard: Guard, asked: Asked, nowMs = 0): number | string {
  const verdict = guard.judge(asked, nowMs);
  return verdict.kind === "refused" ? verdict.status : verdict.kind;
}

test("the token opens the front door, the session everything below, and nothing else does", () => {
  const { guard, asked } = guarded();
  const entering = { ...asked, path: "/", headers: { host: HOST }, tokenInQuery: guard.token };
  assert.equal(statusOf(guard, entering), "welcome");
  assert.equal(statusOf(guard, asked), "allowed");
  assert.equal(statusOf(guard, { ...asked, headers: { host: HOST } }), 401);
  assert.equal(statusOf(guard, { ...asked, headers: { host: HOST, cookie: "weir=x" } }), 401);
  assert.equal(statusOf(guard, { ...entering, tokenInQuery: "x" }), 401);
  const scraping = { host: HOST, authorization: `Bearer ${guard.token}` };
  assert.equal(statusOf(guard, { ...asked, path: "/metrics", headers: scraping }), "allowed");
});

test("the cookie is for a path that nobody else knows, and not for scripts or other sites", () => {
  const [first, second] = [guarded(), guarded()];
  assert.match(first.guard.cookie, /; Path=\/[\w-]{12}\/; HttpOnly; SameSite=Strict$/);
  assert.notEqual(first.guard.base, second.guard.base);
  assert.ok(first.guard.token.length >= 22, "at least 128 bits");
  assert.ok(!first.guard.cookie.includes(first.guard.token), "the token itself is not kept");
  const elsewhere = { ...first.asked, path: "/metrics" };
  assert.equal(statusOf(first.guard, elsewhere), 401);
  assert.equal(statusOf(second.guard, { ...second.asked, headers: first.asked.headers }), 401);
});

test("a name that somebody else made lead here is refused, whatever comes with it", () => {
  const { guard, asked, cookie } = guarded();
  for (const host of [
    "evil.example",
    "evil.example:8674",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "localhost.evil.example:8674",
    "192.168.1.5:8674",
    "[::1]",
    "",
    "127.0.0.1:8674:1",
    "LOCALHOST\u0000",
  ])
    assert.equal(statusOf(guard, { ...asked, headers: { host, cookie } }), 403, host);
  assert.equal(statusOf(guard, { ...asked, headers: { cookie } }), 403);
  for (const host of ["localhost:8674", "LocalHost", "127.0.0.1", "127.0.0.1:9000"])
    assert.equal(statusOf(guard, { ...asked, headers: { host, cookie } }), "allowed", host);
  const six = { ...asked, localAddress: "::1", headers: { host: "[::1]:8674", cookie } };
  assert.equal(statusOf(guard, six), "allowed");
});

test("a name given by the operator is one of ours", () => {
  const guard = new Guard({ hostName: "Crawler.lan", token: undefined });
  const cookie = guard.cookie.split(";")[0];
  const asked = {
    method: "GET",
    path: guard.base,
    localAddress: "10.0.0.7",
    tokenInQuery: undefined,
  };
  for (const [host, answer] of [
    ["crawler.lan:8674", "allowed"],
    ["10.0.0.7:8674", "allowed"],
    ["other.lan:8674", 403],
    ["10.0.0.8", 403],
  ] as const)
    assert.equal(statusOf(guard, { ...asked, headers: { host, cookie } }), answer, host);
});

test("other pages cannot ask, and only a wish from our own page is done", () => {
  const { guard, asked } = guarded();
  const headersWith = (more: object): Asked => ({
    ...asked,
    headers: { ...asked.headers, ...more },
  });
  for (const site of ["cross-site", "same-site"])
    assert.equal(statusOf(guard, headersWith({ "sec-fetch-site": site })), 403, site);
  for (const site of ["same-origin", "none"])
    assert.equal(statusOf(guard, headersWith({ "sec-fetch-site": site })), "allowed", site);

  const own = { origin: `http://${HOST}`, "x-weir": "1", "content-type": "application/json" };
  const posted = (more: object): number | string =>
    statusOf(guard, { ...headersWith({ ...own, ...more }), method: "POST" });
  assert.equal(posted({}), "allowed");
  assert.equal(posted({ origin: undefined }), 403);
  assert.equal(posted({ origin: "null" }), 403);
  assert.equal(posted({ origin: "http://127.0.0.1:9999" }), 403);
  assert.equal(posted({ origin: "https://127.0.0.1:8674" }), 403);
  assert.equal(posted({ origin: "https://evil.example" }), 403);
  assert.equal(posted({ "x-weir": undefined }), 403);
  assert.equal(posted({ "content-type": "text/plain" }), 403);
  assert.equal(posted({ "content-type": "application/jsonp" }), 403);
});

test("a link from elsewhere may lead to the front door, and only by going there", () => {
  const { guard, asked } = guarded();
  const headers = { host: HOST, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  const entering = { ...asked, path: "/", headers, tokenInQuery: guard.token };
  assert.equal(statusOf(guard, entering), "welcome");
  const image = { ...headers, "sec-fetch-mode": "no-cors" };
  assert.equal(statusOf(guard, { ...entering, headers: image }), 403);
  assert.equal(statusOf(guard, { ...entering, path: "/metrics" }), 403);
});

test("after ten wrong tokens none is looked at for a minute, and sessions go on", () => {
  const { guard, asked } = guarded();
  const entering = { ...asked, path: "/", headers: { host: HOST }, tokenInQuery: "wrong" };
  for (let wrong = 1; wrong <= 10; wrong++) assert.equal(statusOf(guard, entering, 5), 401);
  const right = { ...entering, tokenInQuery: guard.token };
  assert.equal(statusOf(guard, right, 59_000), 429);
  assert.equal(statusOf(guard, asked, 59_000), "allowed");
  assert.equal(statusOf(guard, right, 60_010), "welcome");
});

test("a token that was given is the one, and a new one is made for each start without", () => {
  const given = "0123456789abcdefghijkl";
  assert.equal(new Guard({ hostName: undefined, token: given }).token, given);
  assert.notEqual(guarded().guard.token, guarded().guard.token);
});
