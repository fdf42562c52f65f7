/** Draws amounts as horizontal bars, each labelled with its value and its share of the sum. */

import { shown } from "./scale.ts";
import { element, hint, label, picture, widthOf } from "./svg.ts";

interface BarPlot {
  readonly title: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
  readonly unit: string;
  readonly width?: number;
}

const FONT_PIXELS = 12;
const ROW_PIXELS = 22;
const TOP_PIXELS = 38;
const NUMBER_PIXELS = 130;
const NAME_PIXELS_MAX = 260;

export function barPlot({ title, bars, unit, width = 760 }: BarPlot): string {
  const nameWidth = Math.max(40, ...bars.map(({ name }) => widthOf(name, FONT_PIXELS)));
  const left = 14 + Math.min(NAME_PIXELS_MAX, nameWidth) + 8;
  const most = Math.max(0, ...bars.map((bar) => bar.value)) || 1;
  const sum = bars.reduce((total, bar) => total + bar.value, 0) || 1;
  const marks = bars.flatMap(({ name, value }, index) => {
    const y = TOP_PIXELS + index * ROW_PIXELS;
    const length = (Math.max(0, value) / most) * (width - left - NUMBER_PIXELS);
    const share = `${((100 * value) / sum).toFixed(1)} %`;
    const text = `${shown(value, unit)} · ${share}`;
    return [
      label(name, { class: "end", x: left - 8, y: y + 13 }),
      element(
        "rect",
        { class: "f0", x: left, y: y + 2, width: length, height: 14, rx: 2 },
        hint(name),
      ),
      label(text, { class: "soft", x: left + length + 6, y: y + 13 }),
    ];
  });
  const height = TOP_PIXELS + bars.length * ROW_PIXELS + 10;
  return picture({ title, width, height }, marks);
}
