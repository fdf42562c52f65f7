/**
 * Tracks the tokenizer's position in the tree, as far as it decides which bytes are tags and links.
 *
 * Different rules hold inside SVG and MathML (`<style>` is not raw text there, CDATA sections exist), and the
 * content of a `<template>` is not part of the page. So only these elements are kept on a stack, with
 * their children that contain HTML again (`foreignObject` and the like) or are never shown (`<style>`
 * and `<script>`). Most pages never have more than one of them open; beyond 64 they are only counted.
 */

import { isBreakout, TAG } from "./html-names.ts";

const DEPTH_MAX = 64;

/** Foreign elements whose content is HTML: "integration points" in the standard. */
const POINTS_SVG: ReadonlySet<number> = new Set([TAG.foreignobject, TAG.desc, TAG.title]);
const POINTS_MATH: ReadonlySet<number> = new Set([TAG.mi, TAG.mo, TAG.mn, TAG.ms, TAG.mtext]);

export class HtmlNest {
  readonly #open = new Uint8Array(DEPTH_MAX);
  /** 1 if an open annotation-xml declares HTML as its content. */
  readonly #holdsHtml = new Uint8Array(DEPTH_MAX);
  #depth = 0;
  #uncounted = 0;
  #templates = 0;
  /** Open `<style>` and `<script>` elements of SVG and MathML. */
  #unshown = 0;

  reset(): void {
    this.#depth = 0;
    this.#uncounted = 0;
    this.#templates = 0;
    this.#unshown = 0;
  }

  get isEmpty(): boolean {
    return this.#depth === 0;
  }

  get inTemplate(): boolean {
    return this.#templates > 0;
  }

  /** True if text here is not shown: contents of templates, style sheets and scripts. */
  get hidesText(): boolean {
    return this.#templates + this.#unshown > 0;
  }

  /** True if markup here is SVG or MathML. */
  get isForeign(): boolean {
    if (this.#depth === 0) return false;
    const top = this.#open[this.#depth - 1] as number;
    if (top === TAG["annotation-xml"]) return this.#holdsHtml[this.#depth - 1] === 0;
    return top === TAG.svg || top === TAG.math || isUnshown(top);
  }

  /** Leaves SVG and MathML if this start tag is not allowed in them. */
  breakOut(tag: number, isStyledFont: boolean): void {
    if (isBreakout(tag) || (tag === TAG.font && isStyledFont)) this.#leaveForeign();
  }

  open(tag: number, holdsHtml: boolean): void {
    if (!this.#nests(tag)) return;
    if (this.#depth === DEPTH_MAX) {
      this.#uncounted += 1;
      return;
    }
    this.#open[this.#depth] = tag;
    this.#holdsHtml[this.#depth] = holdsHtml ? 1 : 0;
    this.#depth += 1;
    if (tag === TAG.template) this.#templates += 1;
    else if (isUnshown(tag)) this.#unshown += 1;
  }

  close(tag: number): void {
    if ((tag === TAG.p || tag === TAG.br) && this.isForeign) return this.#leaveForeign();
    if (!isNestable(tag)) return;
    // HTML elements of these names are never on the stack.
    if (isUnshown(tag) && !this.isForeign) return;
    if (this.#uncounted > 0) {
      this.#uncounted -= 1;
      return;
    }
    for (let level = this.#depth - 1; level >= 0; level--) {
      if (this.#open[level] === tag) return this.#cutTo(level);
      // An end tag inside a template cannot close elements around it.
      if (this.#open[level] === TAG.template) return;
    }
  }

  #nests(tag: number): boolean {
    if (!this.isForeign) return tag === TAG.svg || tag === TAG.math || tag === TAG.template;
    if (isUnshown(tag)) return true;
    const holder = this.#holder;
    if (holder === TAG["annotation-xml"]) return tag === TAG.svg;
    if (holder === TAG.svg) return tag === TAG.svg || POINTS_SVG.has(tag);
    return tag === TAG.math || tag === TAG["annotation-xml"] || POINTS_MATH.has(tag);
  }

  /** The innermost open element except style sheets and scripts: it decides which elements may nest. */
  get #holder(): number | undefined {
    let level = this.#depth - 1;
    while (isUnshown(this.#open[level])) level -= 1;
    return this.#open[level];
  }

  #leaveForeign(): void {
    while (this.isForeign) this.#cutTo(this.#depth - 1);
  }

  #cutTo(depth: number): void {
    for (let level = depth; level < this.#depth; level++)
      if (this.#open[level] === TAG.template) this.#templates -= 1;
      else if (isUnshown(this.#open[level])) this.#unshown -= 1;
    this.#depth = depth;
    this.#uncounted = 0;
  }
}

function isNestable(tag: number): boolean {
  if (tag >= TAG.template && tag <= TAG["annotation-xml"]) return true;
  return tag === TAG.title || isUnshown(tag);
}

/** On the stack these are always elements of SVG or MathML: those of HTML are skipped as raw text. */
function isUnshown(tag: number | undefined): boolean {
  return tag === TAG.style || tag === TAG.script;
}
