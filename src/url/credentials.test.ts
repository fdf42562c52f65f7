import assert from "node:assert/strict";
import { test } from "node:test";
import { hideCredentials, visible } from "../base/visible.ts";
import { credentialsOf, withoutCredentials } from "./credentials.ts";

test("a value loses user name and password, in all spellings of a URL", () => {
  for (const [text, expected] of [
    ["http://host.test/@user/a@b", "http://host.test/@user/a@b"],
    ["http://user:secret@host.test/a@b", "http://host.test/a@b"],
    ["http:\\\\user:secret@host.test", "http://host.test/"],
    ["http:user:secret@host.test", "http://host.test/"],
    ["http://user:se@cret@host.test:81/x", "http://host.test:81/x"],
    ["nats://secret@host.test:4222", "nats://host.test:4222"],
    ["user:secret@host.test", "…@host.test"],
    ["http://user:sec/ret@host.test/", "…@host.test/"],
    ["http://user:sec ret@:99999/", "…@:99999/"],
    ["no address", "no address"],
  ] as const)
    assert.equal(withoutCredentials(text), expected, text);
});

test("user name and password of a URL are decoded", () => {
  assert.deepEqual(credentialsOf("nats://a%40b:p%3Aw@h"), { user: "a@b", password: "p:w" });
  assert.deepEqual(credentialsOf("nats://100%:x@h"), { user: "100%", password: "x" });
  assert.equal(credentialsOf("nats://h:4222"), undefined);
  assert.equal(credentialsOf("words"), undefined);
});

test("visible text has no credentials of any URL in it, also where it is cut", () => {
  const text = "from http://user:secret@a.test/x to //secret@b.test and me@c.test";
  assert.equal(hideCredentials(text), "from http://a.test/x to //b.test and me@c.test");
  assert.equal(visible("http://user:secret@a.test/", 12), "http://a.tes…");
  // A function that is not linear in the text would not end here.
  visible(`@${"//a".repeat(1e6)}`);
  visible(`@//${"a".repeat(1e6)}`);
});
