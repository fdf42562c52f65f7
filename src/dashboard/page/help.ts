/** The keyboard shortcuts; opened with `?`. */

import { h } from "./dom.ts";

const KEYS: readonly (readonly [keys: string, effect: string])[] = [
  ["1 … 9", "go to a view"],
  ["/", "find a site, or search"],
  ["j  k", "next and previous site in the table"],
  ["Enter", "open the site; apply the change"],
  ["l", "change the limit"],
  ["p", "pause, and go on"],
  ["t", "light, dark, or as the system has it"],
  ["Esc", "close, or leave a field as it was"],
  ["?", "this"],
];

export function helpDialog(): HTMLDialogElement {
  const dialog: HTMLDialogElement = h(
    "dialog",
    { "aria-labelledby": "help-title" },
    h(
      "div.card-head",
      h("h2", { id: "help-title" }, "Keyboard"),
      h("button.quiet", { click: () => dialog.close() }, "Close"),
    ),
    h(
      "dl.keys",
      ...KEYS.map(([keys, effect]) =>
        h(
          "div",
          h("dt", ...keys.split(/ +/).map((key) => (key === "…" ? key : h("kbd", key)))),
          h("dd", effect),
        ),
      ),
    ),
    h(
      "p.soft",
      "Deadlines and priorities are changed in the table of sites: click a value to edit it. `weir set` makes the same changes.",
    ),
  );
  return dialog;
}
