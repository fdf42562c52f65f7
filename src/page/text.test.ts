import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, type Random, randomFrom } from "../base/random.ts";
import { hasSharedData, NEEDS_DATA } from "../url/shared-data.suite.ts";
import { htmlCases } from "./html-cases.suite.ts";
import { ownText, referenceText } from "./reference-text.suite.ts";
import { titleText, visibleText } from "./text.ts";

function title(text: string): string {
  const bytes = Buffer.from(text);
  return titleText(bytes, 0, bytes.length);
}

test("visible text is the text that a browser shows, block by block", () => {
  const html = `<title>T</title><h1>Big</h1><p>One <b>bo</b>ld &amp; <i>two</i>
    three<script>no()</script><ul><li>a<li>b</ul><textarea>no</textarea>`;
  assert.equal(visibleText(Buffer.from(html), 1000), "Big\nOne bold & two three\na\nb");
  assert.equal(visibleText(Buffer.from(html), 5), "Big\nO");
});

test("style sheets and scripts in SVG are not text, their surroundings are", () => {
  const text = (html: string): string => visibleText(Buffer.from(html), 1000);
  const svg =
    "<svg><style>.a{fill:red}</style><script>var leak=1;</script><text>label</text></svg>";
  assert.equal(text(`<p>before</p>${svg}<p>after`), "before\nlabel\nafter");
  assert.equal(text("<svg><style/><text>label</text></svg>"), "label");
  assert.equal(text("<svg><style>a<text>b</text>c</svg>after"), "after");
  assert.equal(
    text("<svg><style>a{}<p>a paragraph ends the drawing"),
    "a paragraph ends the drawing",
  );
  const embedded = "<style>.b{}</style><p>shown</p><script>no()</script>";
  assert.equal(text(`<svg><foreignObject>${embedded}</foreignObject></svg>`), "shown");
  assert.equal(
    text(`<svg><style>x<foreignObject>${embedded}</foreignObject>y</style></svg>z`),
    "z",
  );
  // MathML has no elements of these names, but browsers hide their text there too.
  assert.equal(text("<math><style>a</style><mi>b</mi></math>"), "b");
});

/** Elements allowed in each language, and the language of their content. */
const LANGUAGES = {
  html: "svg:svg math:math style:raw script:raw span:html",
  svg: "svg:svg style:svg script:svg g:svg a:svg foreignObject:html desc:html title:html",
  math: "math:math style:math script:math mrow:math mi:html annotation-xml:html",
  raw: "",
};
type Language = keyof typeof LANGUAGES;

/** An element with text of its own before and after each of its children. */
function randomTree(random: Random, language: Language, depth: number): string {
  const [name, inner] = pick(random, LANGUAGES[language].split(" ")).split(":") as [
    string,
    Language,
  ];
  const attributes = name === "annotation-xml" ? " encoding=text/html" : "";
  let inside = `${name[0]}${below(random, 10)} `;
  for (let count = depth === 0 || inner === "raw" ? 0 : below(random, 4); count > 0; count--)
    inside += `${randomTree(random, inner, depth - 1)}${count} `;
  return `<${name}${attributes}>${inside}</${name}>`;
}

test("text in SVG and MathML is the text that parse5 finds", () => {
  for (let seed = 1; seed <= 10_000; seed++) {
    const html = randomTree(randomFrom(seed), "html", 5);
    assert.equal(ownText(html), referenceText(html), `seed ${seed}: ${html}`);
  }
});

test("HTML cases have the text that parse5 finds, except for framesets, selects and CDATA", (t) => {
  if (!hasSharedData()) return t.skip(NEEDS_DATA);
  for (const [number, html] of htmlCases().entries()) {
    if (number % 7 !== 0 || /<(?:frameset|select|!\[CDATA)|^<\/$/i.test(html)) continue;
    assert.equal(ownText(html), referenceText(html), JSON.stringify(html));
  }
});

test("titles are one line without controls, at most 512 characters", () => {
  assert.equal(title(" a\n\tb\u0007\u202ec&eacute; "), "a bcé");
  assert.equal(title("\u0001\u0002"), "");
  assert.equal(title("x".repeat(5e6)).length, 512);
  assert.ok(title("💧".repeat(400)).isWellFormed());
});

test("a text of many pieces is joined in linear time", () => {
  assert.equal(visibleText(Buffer.from("<p>word ".repeat(500_000)), 1e6).slice(0, 9), "word\nword");
});
