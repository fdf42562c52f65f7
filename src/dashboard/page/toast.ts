/** Short messages at the edge of the page. */

import type { ChangeAnswer } from "../shapes.ts";
import { change } from "./api.ts";
import { h } from "./dom.ts";

const SHOWN_MS = 6000;
const SHOWN_MAX = 4;

export function toast(words: string, isGood: boolean): void {
  const place = document.querySelector("#toasts");
  if (place === null) return;
  const element = h("p", { class: isGood ? "toast" : "toast bad" }, words);
  place.append(element);
  while (place.childElementCount > SHOWN_MAX) place.firstElementChild?.remove();
  window.setTimeout(() => element.remove(), SHOWN_MS);
}

/** Changes a setting, and shows the answer. */
export async function changeAloud(key: string, value: string): Promise<ChangeAnswer> {
  const answer = await change(key, value);
  toast(answer.message, answer.ok);
  return answer;
}
