/** The figures at the top of the overview: a name, a number, and its proportion. */

import type { Look } from "../shapes.ts";
import { h, keyed, say } from "./dom.ts";
import {
  plural,
  showBytes,
  showCount,
  showDuration,
  showPace,
  showPercent,
  showRate,
} from "./words.ts";

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly isBad?: boolean;
}

export class Figures {
  readonly element = h("dl.figures");
  readonly #kept = new Map<string, ReturnType<typeof makeFigure>>();

  show(look: Look): void {
    keyed(this.element, this.#kept, figuresOf(look), {
      keyOf: ({ name }) => name,
      make: makeFigure,
      update: (made, { value, note, isBad = false }) => {
        say(made.value, value);
        say(made.note, note);
        made.note.classList.toggle("bad", isBad);
      },
    });
  }
}

function makeFigure({ name }: Figure) {
  const value = h("dd.value");
  const note = h("dd.note");
  return { element: h("div.figure", h("dt", name), value, note), value, note };
}

function figuresOf(look: Look): Figure[] {
  const { snapshot, isRunning } = look;
  const { totals, pending, elapsedMs } = snapshot;
  const promised = promises(look);
  return [
    isRunning
      ? rateNow(look)
      : {
          name: "Rate",
          value: showRate(meanBps(totals.bytes, totals.crawledMs)),
          note: "mean of the crawl",
        },
    {
      name: "Pages",
      value: showCount(totals.pages),
      note: isRunning
        ? `${showPace(snapshot.pagesPerSecond)} a second`
        : `${plural(snapshot.siteCount, "site")}`,
    },
    {
      name: "Received",
      value: showBytes(totals.bytes),
      note: `in ${showDuration(isRunning ? elapsedMs : totals.crawledMs)}`,
    },
    {
      name: "Waiting",
      value: showCount(pending),
      note: pending === 0 ? "nothing left" : remaining(snapshot.remainingMs, isRunning),
    },
    {
      name: "Failed",
      value: showCount(totals.failed),
      note: `${showPercent(totals.known === 0 ? 0 : totals.failed / totals.known)} of ${showCount(totals.known)} known`,
    },
    { name: "Skipped", value: showCount(totals.skipped), note: "by robots.txt or rule" },
    ...(promised === undefined ? [] : [promised]),
    ...(isRunning
      ? [
          {
            name: "Requests open",
            value: showCount(snapshot.connectionsOpen),
            note: `of ${showCount(snapshot.connectionsMax)}; ${showCount(snapshot.waitingReaders)} held`,
          },
        ]
      : [
          {
            name: "Copies",
            value: showCount(totals.duplicatesExact + totals.duplicatesNear),
            note: `${showCount(totals.duplicatesExact)} exact, ${showCount(totals.duplicatesNear)} near`,
          },
        ]),
  ];
}

function rateNow({ snapshot: { rateBps, limitBps } }: Look): Figure {
  if (limitBps === undefined) return { name: "Rate", value: showRate(rateBps), note: "no limit" };
  if (limitBps === 0)
    return { name: "Rate", value: showRate(rateBps), note: "no requests allowed now" };
  const share = rateBps / limitBps;
  return {
    name: "Rate",
    value: showRate(rateBps),
    note: `${showPercent(share)} of the limit`,
    isBad: share > 1.05,
  };
}

function promises({ snapshot: { sites } }: Look): Figure | undefined {
  const promised = sites.filter(({ deadlineMs }) => deadlineMs !== undefined);
  if (promised.length === 0) return undefined;
  const met = promised.filter(
    ({ finishedMs = Infinity, deadlineMs = 0 }) => finishedMs <= deadlineMs,
  ).length;
  const lost = promised.filter(
    ({ finishedMs, deadlineMs = 0, forecast }) =>
      (finishedMs ?? 0) > deadlineMs || (finishedMs === undefined && forecast?.isLate === true),
  ).length;
  const open = promised.length - met - lost;
  const parts = [open === 0 ? "" : `${open} in time`, lost === 0 ? "" : `${lost} late`].filter(
    (part) => part !== "",
  );
  return {
    name: "Deadlines",
    value: `${met} of ${promised.length}`,
    note: parts.length === 0 ? "met" : `met; ${parts.join(", ")}`,
    isBad: lost > 0,
  };
}

function remaining(remainingMs: number | undefined, isRunning: boolean): string {
  if (!isRunning) return "the same command resumes";
  if (remainingMs === undefined) return "not known yet";
  if (remainingMs > 30 * 86_400_000) return "more than a month";
  return remainingMs < 1000 ? "nearly done" : `about ${showDuration(remainingMs)} left`;
}

function meanBps(bytes: number, crawledMs: number): number {
  return crawledMs > 0 ? (bytes * 1000) / crawledMs : 0;
}
