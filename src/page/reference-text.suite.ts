/**
 * The text of a page by a whole HTML parser: the reference for `text.ts`.
 *
 * Characters are compared without white space and in sorted order, because a parser moves stray text
 * in a table to the front of the table and the scanner leaves it in place.
 */

import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";
import { visibleText } from "./text.ts";

const HTML = "http://www.w3.org/1999/xhtml";
/** HTML elements whose content is raw text, or the value of a form field. */
const RAW = new Set("title textarea xmp iframe noembed noframes plaintext".split(" "));

export function ownText(html: string): string {
  return characters(visibleText(Buffer.from(html), Infinity));
}

export function referenceText(html: string): string {
  const pieces: string[] = [];
  const left: Tree.ParentNode[] = [parse(html, { scriptingEnabled: false })];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if ("tagName" in node && isUnshown(node)) continue;
    for (const child of node.childNodes) {
      if ("childNodes" in child) left.push(child);
      else if (child.nodeName === "#text") pieces.push((child as Tree.TextNode).value);
    }
  }
  return characters(pieces.join(" "));
}

function isUnshown({ tagName, namespaceURI }: Tree.Element): boolean {
  if (tagName === "style" || tagName === "script") return true;
  return namespaceURI === HTML && RAW.has(tagName);
}

function characters(text: string): string {
  return [...text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}\ufffd]/gu, "")].toSorted().join("");
}
