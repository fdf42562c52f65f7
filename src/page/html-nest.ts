/**
 * Where in the tree the tokenizer stands, as far as that changes what is a tag or a link.
 *
 * HTML reads differently inside SVG and MathML (`<style>` there is no raw text, CDATA sections
 * exist), and what lies in a `<template>` is no part of the page. So only these elements are kept
 * on a stack, with those of theirs that hold HTML again (`foreignObject` and the like) or that are
 * never shown (`<style>` and `<script>`). Most pages never have more than one of them open;
 * beyond 64 they are only counted.
 */

import { isBreakout, TAG } from "./html-names.ts";

const DEPTH_MAX = 64;

/** Foreign elements inside which HTML is read as HTML: "integration points" in the standard. */
const POINTS_SVG: ReadonlySet<number> = new Set([TAG.foreignobject, TAG.desc, TAG.title]);
const POINTS_MATH: ReadonlySet<number> = new Set([TAG.mi, TAG.mo, TAG.mn, TAG.ms, TAG.mtext]);

export class HtmlNest {
  readonly #open = new Uint8Array(DEPTH_MAX);
  /** Whether an open annotation-xml says that it holds HTML. */
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

  /** Whether text here is not shown: contents of templates, style sheets and scripts. */
  get hidesText(): boolean {
    return this.#templates + this.#unshown > 0;
  }

  /** Whether markup here is read as SVG or MathML. */
  get isForeign(): boolean {
    if (this.#depth === 0) return false;
    const top = this.#open[this.#depth - 1] as number;
    if (top === TAG["annotation-xml"]) return this.#holdsHtml[this.#depth - 1] === 0;
    return top === TAG.svg || top === TAG.math || isUnshown(top);
  }

  /** Leaves SVG and MathML when this start tag may not stand in them. */
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
    // The HTML elements of these names are not on the stack.
    if (isUnshown(tag) && !this.isForeign) return;
    if (this.#uncounted > 0) {
      this.#uncounted -= 1;
      return;
    }
    for (let level = this.#depth - 1; level >= 0; level--) {
      if (this.#open[level] === tag) return this.#cutTo(level);
      // Nothing inside a template can close what is around it.
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

  /** The innermost open element that is not a style sheet or a script: it decides what may nest. */
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

/** On the stack these are always elements of SVG or MathML: HTML's own are passed as raw text. */
function isUnshown(tag: number | undefined): boolean {
  return tag === TAG.style || tag === TAG.script;
}
