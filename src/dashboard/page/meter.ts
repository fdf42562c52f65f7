/** A thin bar for a share, with a text for screen readers. */

import { h } from "./dom.ts";
import { showPercent } from "./words.ts";

export function meter(label: string): HTMLElement {
  return h(
    "div.meter",
    { role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100 },
    h("i"),
  );
}

export function setMeter(element: HTMLElement, share: number, isLate = false): void {
  const bounded = Math.min(1, Math.max(0, share));
  const inside = element.firstElementChild as HTMLElement;
  const width = `${(100 * bounded).toFixed(1)}%`;
  if (inside.style.width !== width) inside.style.width = width;
  element.classList.toggle("late", isLate);
  element.classList.toggle("full", bounded === 1);
  element.setAttribute("aria-valuenow", String(Math.round(100 * bounded)));
  element.setAttribute("aria-valuetext", showPercent(bounded));
}
