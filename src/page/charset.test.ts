import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conformanceBytes,
  conformanceNames,
  hasSharedData,
  NEEDS_DATA,
} from "../url/shared-data.suite.ts";
import { detectCharset, encodingNamed, toUtf8 } from "./charset.ts";
import { PRESCAN_BYTES } from "./charset-prescan.ts";

function detected(body: string | Uint8Array, contentType?: string): string {
  const bytes = typeof body === "string" ? Buffer.from(body, "latin1") : body;
  const { name, source } = detectCharset(bytes, contentType);
  return `${source} ${name}`;
}

test("the byte order mark takes precedence, then the header, the page and the bytes", () => {
  const meta = "<meta charset=koi8-r>";
  assert.equal(detected(`\xef\xbb\xbf${meta}`, "text/html; charset=gbk"), "bom utf-8");
  assert.equal(detected(meta, 'text/html; charset="GB2312"'), "header gbk");
  assert.equal(detected(meta, "text/html"), "meta koi8-r");
  assert.equal(detected(Buffer.from("Grüße")), "bytes utf-8");
  assert.equal(detected("Gr\xfc\xdfe"), "default windows-1252");
});

test("unknown labels are ignored", () => {
  for (const label of ["utf-7", "x", "x".repeat(1e5), "utf-32", "iso-2022-kr", "\0"])
    assert.equal(
      detected("<meta charset=latin1>", `text/html;charset=${label}`),
      "meta windows-1252",
    );
  assert.equal(
    detected(`${" ".repeat(PRESCAN_BYTES)}<meta charset=koi8-r>\xff`),
    "default windows-1252",
  );
});

test("pages in any encoding become UTF-8", () => {
  assert.equal(Buffer.from(toUtf8(Buffer.from([0x80, 0xe9]), "windows-1252")).toString(), "€é");
  assert.equal(Buffer.from(toUtf8(Buffer.from("<\0a\0", "latin1"), "utf-16le")).toString(), "<a");
  assert.equal(Buffer.from(toUtf8(Buffer.from([0x81, 0xff]), "gb18030")).toString(), "\ufffd");
  const ascii = Buffer.from("<a href=x>");
  assert.equal(toUtf8(ascii, "windows-1252"), ascii);
});

test("the declarations of html5lib's encoding tests are found", (t) => {
  if (!hasSharedData()) return t.skip(NEEDS_DATA);
  const files = conformanceNames().filter((name) => /html5lib-encoding\/.*\.dat$/.test(name));
  let checked = 0;
  for (const file of files)
    for (const part of conformanceBytes(file)
      .toString("latin1")
      .split(/^#data\n/m)
      .slice(1)) {
      const [data = "", encoding = ""] = part.split(/\n#encoding\n/);
      // Some cases run scripts or declare the encoding late; both are unsupported.
      if (data.includes("<script>") || data.length > PRESCAN_BYTES) continue;
      const label = encodingNamed((encoding.split("\n")[0] ?? "").trim());
      const { name, source } = detectCharset(Buffer.from(data, "latin1"), undefined);
      const found = source === "bom" || source === "meta" ? name : "windows-1252";
      assert.equal(found, label, `${file}: ${JSON.stringify(data)}`);
      checked += 1;
    }
  assert.ok(checked > 40, `${checked} cases`);
});
