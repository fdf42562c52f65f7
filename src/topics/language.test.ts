import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMON_WORDS } from "./language-words.ts";
import { EnglishShare } from "../lab/english-share.ts";
import { LanguageGuesser, LANGUAGES } from "./language.ts";
import { Tokens } from "./tokens.ts";

const SENTENCES: Readonly<Record<string, string>> = {
  en: "We have been looking for a house that is near the river, but there was none we could have.",
  de: "Wir haben lange nach einem Haus gesucht, das nicht weit vom Fluss ist, aber es gab keines.",
  fr: "Nous avons longtemps cherché une maison qui ne soit pas loin de la rivière, mais il n'y en a pas.",
  es: "Hemos buscado mucho tiempo una casa que no esté lejos del río, pero no la hay en esta ciudad.",
  it: "Abbiamo cercato a lungo una casa che non sia lontana dal fiume, ma non ce ne sono nella città.",
  pt: "Nós procuramos muito tempo uma casa que não fosse longe do rio, mas não há nenhuma na cidade.",
  nl: "We hebben lang naar een huis gezocht dat niet ver van de rivier is, maar er was er geen.",
  pl: "Szukaliśmy domu, który nie jest daleko od rzeki, ale w tym mieście nie było takiego dla nas.",
  ru: "Мы долго искали дом, который был бы у реки, но в этом городе его не было для нас.",
  zh: "我们找了很久的房子，在这个城市里没有一个是我们要的，也不知道为什么。",
  ja: "わたしたちは川の近くにある家をさがしていましたが、この町にはありませんでした。",
};

const guesser = new LanguageGuesser();
const tokens = new Tokens();

function taken(text: string): Tokens {
  tokens.takeText(Buffer.from(text));
  return tokens;
}

test("a sentence identifies its language", () => {
  for (const [code, sentence] of Object.entries(SENTENCES))
    assert.equal(guesser.guess(taken(sentence)).code, code, sentence);
});

test("text that is not prose has no language", () => {
  assert.equal(guesser.guess(taken("")).code, undefined);
  assert.equal(guesser.guess(taken("xq zv qqq kjh ".repeat(20))).code, undefined);
  assert.equal(guesser.guess(taken("42 17 2002")).code, undefined);
});

test("the common words of each language are recognised as that language", () => {
  for (const code of LANGUAGES)
    assert.equal(guesser.guess(taken(COMMON_WORDS[code] ?? "")).code, code);
});

test("the paper's test tells English from German", () => {
  const paper = new EnglishShare();
  assert.ok(paper.isEnglish(taken(SENTENCES["en"] ?? "")));
  assert.ok(!paper.isEnglish(taken(SENTENCES["de"] ?? "")));
});
