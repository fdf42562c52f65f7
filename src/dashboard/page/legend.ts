/** The legend of a chart. */

import { h, svg } from "./dom.ts";

export interface Sample {
  readonly mark: SVGElement;
  readonly words: string;
}

/** `kind` is the class of the chart, which determines the look of its marks. */
export function legend(kind: string, samples: readonly Sample[]): HTMLElement {
  return h(
    "ul.legend",
    ...samples.map(({ mark, words }) => {
      const size = { class: kind, width: 22, height: 12, "aria-hidden": "true" };
      return h("li", svg("svg", size, mark), words);
    }),
  );
}
