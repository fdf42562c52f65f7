/**
 * The HTML cases of html5lib's tests, made into pages whose links reveal the state of the tokenizer.
 *
 * A case alone rarely contains a link. So each is also followed by links after closing all that could still
 * be open (a quote, a comment, raw text), and put into contexts with other tokenizer rules.
 */

import { conformanceNames, conformanceText } from "../url/shared-data.suite.ts";

const LINK = '<a href="/link">x</a>';
const AROUND: readonly (readonly [before: string, after: string])[] = [
  ["", ""],
  ["", LINK],
  ["", `"'><a href=/quote>`],
  ["", "--><a href='/comment'>"],
  ["", `</script></style></title></textarea></xmp></iframe>${LINK}`],
  [`<body>${LINK}<p>`, `]]><a href=/cdata>`],
  ["<svg>", `</svg>${LINK}`],
  ["<math><mi>", `</math>${LINK}`],
  ["<template>", `<a href=/inside></template>${LINK}`],
  ["<a href=/before ", `>${LINK}`],
  ['<a href="/', `">${LINK}`],
];

/** Every case in every context. */
export function htmlCases(): string[] {
  const inputs = new Set([...tokenizerInputs(), ...treeInputs()]);
  return [...inputs].flatMap((input) => AROUND.map(([before, after]) => before + input + after));
}

interface TokenizerFile {
  readonly tests?: readonly { readonly input: string; readonly doubleEscaped?: boolean }[];
}

function tokenizerInputs(): string[] {
  const names = conformanceNames().filter(
    (name) => name.includes("tokenizer/") && name.endsWith(".test"),
  );
  return names.flatMap((name) => {
    const file = JSON.parse(conformanceText(name)) as TokenizerFile;
    return (file.tests ?? []).map(({ input, doubleEscaped }) =>
      doubleEscaped === true ? unescaped(input) : input,
    );
  });
}

function unescaped(input: string): string {
  return input.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function treeInputs(): string[] {
  const names = conformanceNames().filter(
    (name) => name.includes("tree-construction/") && name.endsWith(".dat"),
  );
  return names.flatMap((name) =>
    conformanceText(name)
      .split(/^#data\n/m)
      .slice(1)
      .map((part) => part.split(/\n#errors/, 1)[0] ?? ""),
  );
}
