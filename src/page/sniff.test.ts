import assert from "node:assert/strict";
import { test } from "node:test";
import { essenceOf, judgeBody } from "./sniff.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

test("binary bodies declared as HTML are detected", () => {
  for (const start of [
    "PK\x03\x04",
    "%PDF-1.7",
    "\x89PNG\r\n\x1a\n",
    "\0\0\0\x18ftypmp42",
    "\x1f\x8b\x08",
  ])
    assert.equal(judgeBody("text/html", bytes(start)), "not_html", JSON.stringify(start));
});

test("HTML bodies are accepted, also broken ones and plain text", () => {
  for (const page of ["<!DOCTYPE html><p>", "BMW cars", "plain", "", "\0<html>", "<html>\x01"])
    assert.equal(judgeBody("text/html; charset=x", bytes(page)), "html", JSON.stringify(page));
  assert.equal(judgeBody("text/html", bytes("\xff\xfe<\0h\0\x01\0")), "html");
});

test("a page declared as another type is not parsed; without a type it is", () => {
  assert.equal(judgeBody("image/png", bytes(" <HTML>")), "type_mismatch");
  assert.equal(judgeBody("image/png", bytes("\x89PNG\r\n\x1a\n")), "other");
  assert.equal(judgeBody(undefined, bytes("\xef\xbb\xbf<!doctype html>")), "html");
  assert.equal(essenceOf("Text/HTML ;charset=x"), "text/html");
  assert.equal(essenceOf("nonsense"), "");
});
