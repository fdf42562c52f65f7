/** Full-text search; shown when the folder has a search index. */

import type { FoundPage, Look, SearchAnswer } from "../shapes.ts";
import { ask, Refused } from "./api.ts";
import { type Child, fill, h, outwards, say } from "./dom.ts";
import type { View } from "./view.ts";
import { plural } from "./words.ts";

export class Search implements View {
  readonly element: HTMLElement;
  readonly #input = h("input", {
    type: "search",
    "aria-label": "Words to find",
    placeholder: "Words to find",
    autocomplete: "off",
  });
  readonly #note = h("p.soft", { role: "status" }, "All words must be on a page.");
  readonly #list = h("ol.found");

  constructor() {
    const form = h(
      "form.toolbar",
      {
        role: "search",
        submit: (event) => {
          event.preventDefault();
          void this.#find();
        },
      },
      this.#input,
      h("button.primary", { type: "submit" }, "Find"),
    );
    this.element = h(
      "section.card",
      h("h2", "Search the collection"),
      form,
      this.#note,
      this.#list,
    );
  }

  show(_look: Look): void {
    // The results stay until the next search.
  }

  key(event: KeyboardEvent): boolean {
    if (event.key !== "/") return false;
    this.#input.focus();
    return true;
  }

  async #find(): Promise<void> {
    const words = this.#input.value.trim();
    if (words === "") return;
    try {
      const { total, pages } = await ask<SearchAnswer>("search", { words });
      say(this.#note, total === 0 ? "Nothing was found." : plural(total, "page"));
      fill(this.#list, ...pages.map(foundItem));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      say(this.#note, error.message);
    }
  }
}

function foundItem({ url, title, excerpt, marks }: FoundPage): HTMLElement {
  const parts: Child[] = [];
  let done = 0;
  for (const [start, end] of marks) {
    parts.push(excerpt.slice(done, start), h("mark", excerpt.slice(start, end)));
    done = end;
  }
  parts.push(excerpt.slice(done));
  return h(
    "li",
    h("h3", h("bdi", title === "" ? url : title)),
    outwards(url),
    h("p.soft", h("bdi", ...parts)),
  );
}
