/**
 * The documents as web pages: Markdown to HTML, every link followed, a navigation made from the table of contents.
 *
 * Pages keep their places in the tree, so that links between them need only another ending; whatever else they
 * link to (pictures, programs, settings) is taken along as it is. A link that leads nowhere, to a file or to a
 * heading, is a fault, and all faults are reported together.
 */

import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { Marked, type Token, type Tokens } from "marked";

const CONTENTS = "docs/README.md";
/** The last group of the contents; what is decided next is listed there by itself. */
const DECISIONS = "docs/decisions/";
const SOURCES = ["*.md", "examples/*.md", "docs/**/*.md"];
const ELSEWHERE = /^(https?:|mailto:)/;
/** Elements that documents may use as they are, and comments. A placeholder such as `<first site>` is none. */
const ELEMENT =
  /^\s*<(!--|\/?(a|br|details|div|em|h1|img|kbd|p|picture|source|sub|summary|sup)\b)/i;

export interface Site {
  /** HTML by its place below the site. */
  readonly pages: ReadonlyMap<string, string>;
  /** Files that pages show or lead to. */
  readonly files: ReadonlySet<string>;
  readonly faults: readonly string[];
}

interface Document {
  readonly source: string;
  readonly place: string;
  readonly title: string;
  readonly tokens: Token[];
  readonly anchors: ReadonlySet<string>;
}

interface Group {
  readonly title: string;
  readonly pages: readonly Document[];
}

export function makeSite(root: string): Site {
  const documents = new Map(
    globSync([...SOURCES], { cwd: root })
      .toSorted()
      .map((source) => [source, documentOf(source, readFileSync(join(root, source), "utf8"))]),
  );
  const faults: string[] = [];
  const files = new Set<string>();
  const groups = groupsIn(documents);
  const pages = new Map<string, string>();
  for (const document of documents.values()) {
    const follow = (href: string): string => {
      const found = followed(href, document, documents, root);
      if (found.fault !== undefined) faults.push(`${document.source}: ${href} ${found.fault}`);
      if (found.file !== undefined) files.add(found.file);
      return found.href;
    };
    faults.push(...strayTags(document).map((tag) => `${document.source}: ${tag} reads as a tag`));
    pages.set(document.place, pageHtml(document, groups, bodyOf(document, follow)));
  }
  const listed = new Set(groups.flatMap((group) => group.pages));
  for (const document of documents.values())
    if (!listed.has(document) && document.source !== CONTENTS && document.source !== "README.md")
      faults.push(`${document.source} is not in ${CONTENTS}`);
  return { pages, files, faults };
}

function documentOf(source: string, text: string): Document {
  const tokens = new Marked({ gfm: true }).lexer(text);
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === "heading");
  const place = source.replace(/(^|\/)README\.md$/, "$1index.md").replace(/\.md$/, ".html");
  const title = plainOf(headings[0]?.text ?? source);
  const anchors = new Set(anchorsOf(headings.map(({ text: words }) => plainOf(words))));
  return { source, place, title, tokens, anchors };
}

/** The table of contents is the navigation: its headings, and the pages named below each. */
function groupsIn(documents: ReadonlyMap<string, Document>): Group[] {
  const groups: { title: string; pages: Document[] }[] = [];
  const seen = new Set<Document>();
  const contents = documents.get(CONTENTS);
  for (const token of contents?.tokens ?? []) {
    if (token.type === "heading" && (token as Tokens.Heading).depth <= 2) {
      const title = (token as Tokens.Heading).depth === 1 ? "Begin" : plainOf(token["text"]);
      groups.push({ title, pages: [] });
    }
    for (const [, href = ""] of token.raw.matchAll(/\]\(([^)#]+\.md)\)/g)) {
      const page = documents.get(normalize(join(dirname(CONTENTS), href)));
      if (page === undefined || seen.has(page)) continue;
      seen.add(page);
      groups.at(-1)?.pages.push(page);
    }
  }
  for (const document of documents.values())
    if (document.source.startsWith(DECISIONS) && !seen.has(document))
      groups.at(-1)?.pages.push(document);
  return groups;
}

/** Text in angle brackets that a browser would swallow; `\\<` shows it. */
function strayTags({ tokens }: Document): string[] {
  const found: string[] = [];
  new Marked().walkTokens(tokens, (token) => {
    if (token.type === "html" && !ELEMENT.test(token.raw)) found.push(token.raw.trim());
  });
  return found;
}

interface Followed {
  readonly href: string;
  readonly file?: string;
  readonly fault?: string;
}

function followed(
  href: string,
  from: Document,
  documents: ReadonlyMap<string, Document>,
  root: string,
): Followed {
  if (ELSEWHERE.test(href)) return { href };
  const [path = "", anchor] = href.split("#");
  const source = path === "" ? from.source : normalize(join(dirname(from.source), path));
  const document = documents.get(source);
  if (document !== undefined) {
    const ending = anchor === undefined ? "" : `#${anchor}`;
    const place = path === "" ? "" : between(from.place, document.place);
    const isThere = anchor === undefined || document.anchors.has(anchor);
    return isThere ? { href: place + ending } : { href, fault: "names no heading there" };
  }
  if (source.startsWith("..")) return { href, fault: "leads out of the project" };
  if (!existsSync(join(root, source))) return { href, fault: "leads to nothing" };
  if (!statSync(join(root, source)).isFile()) return { href, fault: "leads to a folder" };
  return { href: between(from.place, source), file: source };
}

function between(from: string, to: string): string {
  return relative(dirname(from), to);
}

function bodyOf(document: Document, follow: (href: string) => string): string {
  const anchors = document.anchors.values();
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const id = anchors.next().value ?? "";
        const inside = this.parser.parseInline(tokens);
        return `<h${depth} id="${id}"><a href="#${id}">${inside}</a></h${depth}>\n`;
      },
      // What scrolls must be reached by keys, too.
      code({ text, lang }) {
        const kind = lang === undefined || lang === "" ? "" : ` class="language-${escaped(lang)}"`;
        return `<pre tabindex="0"><code${kind}>${escaped(text)}\n</code></pre>\n`;
      },
      table(token) {
        const row = (cells: readonly Tokens.TableCell[]): string =>
          this.tablerow({ text: cells.map((cell) => this.tablecell(cell)).join("") });
        const body = token.rows.map(row).join("");
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header)}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  marked.walkTokens(document.tokens, (token) => {
    if (token.type === "link" || token.type === "image") token["href"] = follow(token["href"]);
  });
  return marked.parser(document.tokens);
}

function pageHtml(document: Document, groups: readonly Group[], body: string): string {
  const to = (place: string): string => between(document.place, place);
  const lists = groups.map(({ title, pages }) => {
    const items = pages.map((page) => {
      const current = page === document ? ' aria-current="page"' : "";
      return `<li><a href="${to(page.place)}"${current}>${escaped(page.title)}</a></li>`;
    });
    const isOpen = pages.includes(document) || title !== "Decisions";
    return `<details${isOpen ? " open" : ""}><summary>${escaped(title)}</summary><ul>${items.join("")}</ul></details>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<title>${escaped(document.title)}${document.source === "README.md" ? "" : " · Weir"}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${to("style.css")}"></head>
<body><p class="top"><a class="home" href="${to("index.html")}">Weir</a> <a href="#pages">All pages</a></p>
<nav id="pages" aria-label="Pages"><a class="home" href="${to("index.html")}">Weir</a>
<p><a href="${to("docs/index.html")}">Contents</a></p>
${lists.join("\n")}
</nav><main>
${body}</main></body></html>
`;
}

/** As GitHub makes them, so that the same link works in both places. */
export function anchorsOf(headings: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return headings.map((heading) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** A heading without its marks. */
function plainOf(markdown: string): string {
  return markdown.replaceAll(/`|\*\*|\[([^\]]*)\]\([^)]*\)/g, "$1");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
