import assert from "node:assert/strict";
import { test } from "node:test";
import { kindBesideContent } from "./known-software.ts";

function isBeside(url: string): boolean {
  const [path = "", query = ""] = url.split("?");
  return kindBesideContent(path, query) > 0;
}

test("URLs that known software makes beside its content are recognised", () => {
  for (const url of [
    "/files/?C=N;O=D",
    "/files/?C=M&O=A",
    "/list?page=2&sort=name",
    "/shop?order_by=price",
    "/index.php?title=Oak&action=edit&section=3",
    "/index.php?title=Oak&oldid=17",
    "/wiki/Special:RecentChanges",
    "/index.php?title=Special:UserLogin",
    "/doku.php?id=start&do=backlink",
    "/doku.php?id=start&rev=1700000000",
    "/2020/post/?replytocom=4",
    "/wp-login.php",
    "/account/login?next=/",
    "/article/5?print=1",
    "/article/5/print",
    "/calendar/2020/05",
    "/events?month=5",
  ])
    assert.ok(isBeside(url), url);
});

test("content is not taken for it", () => {
  for (const url of [
    "/",
    "/index.php?title=Oak",
    "/doku.php?id=plants:oak",
    "/article?id=5&page=2",
    "/printers/laser",
    "/specials/today",
    "/calendar",
    "/view/5?p=3",
  ])
    assert.equal(isBeside(url), false, url);
});

test("the kinds of a wiki are told apart, and cases do not matter", () => {
  const special = kindBesideContent("/wiki/SPECIAL:Search", "");
  const edit = kindBesideContent("/index.php", "title=Oak&Action=EDIT");
  assert.ok(special > 0 && edit > 0 && special !== edit);
  assert.equal(kindBesideContent("/index.php", "title=Oak&oldid=5"), edit);
});
