/** Plots for reports and experiments, each returned as a string of SVG. */

export { barPlot, type BarPlot } from "./bar-plot.ts";
export { heatMap, type HeatMap } from "./heat-map.ts";
export { linePlot, type AxisText, type Line, type LinePlot } from "./line-plot.ts";
export type { Point } from "./thin.ts";
