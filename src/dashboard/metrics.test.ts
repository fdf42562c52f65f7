import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { NO_TOTALS } from "../store/store.ts";
import { metricsText } from "./metrics.ts";
import { sampleLook, sampleView } from "./sample.suite.ts";

interface Family {
  readonly type: string;
  readonly samples: Map<string, number>;
}

/** Reads the text format as strictly as it is defined; throws at the first thing that is not in it. */
function parsed(text: string): Map<string, Family> {
  assert.ok(text.endsWith("\n") && !text.includes("\n\n") && !text.includes("\r"));
  const families = new Map<string, Family>();
  let helped = "";
  let current: [name: string, family: Family] | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP ([a-z_][a-z0-9_]*) [^\n\\]+$/.exec(line)?.[1];
    const type = /^# TYPE ([a-z_][a-z0-9_]*) (counter|gauge)$/.exec(line);
    const sample = /^([a-z_][a-z0-9_]*)(\{[^{}]*\})? (\S+)$/.exec(line);
    if (help !== undefined) helped = help;
    else if (type !== null) {
      const [, name = "", kind = ""] = type;
      assert.equal(name, helped, "TYPE follows HELP");
      assert.ok(!families.has(name), `${name} comes once`);
      current = [name, { type: kind, samples: new Map() }];
      families.set(...current);
    } else {
      assert.ok(sample !== null && current !== undefined, `unreadable: ${line}`);
      const [, name = "", labels = "", value = ""] = sample;
      assert.equal(name, current[0]);
      assert.match(labels, /^(\{[a-z_]+="[a-z0-9_]+"(,[a-z_]+="[a-z0-9_]+")*\})?$/);
      assert.match(value, /^(-?\d+(\.\d+)?(e[+-]?\d+)?|\+Inf)$/);
      assert.ok(!current[1].samples.has(labels), `${name}${labels} comes once`);
      current[1].samples.set(labels, value === "+Inf" ? Infinity : Number(value));
    }
  }
  return families;
}

function series(families: Map<string, Family>): string[] {
  return [...families].flatMap(([name, { samples }]) =>
    [...samples.keys()].map((labels) => name + labels),
  );
}

test("figures of a crawl stand under their names", () => {
  const totals = {
    ...NO_TOTALS,
    bytes: 5e6,
    pages: 40,
    known: 60,
    done: 41,
    failed: 3,
    skipped: 1,
  };
  const outcomes = { ok: 40, http_404: 2, http_503: 1, robots_denied: 1 };
  const look = sampleLook({
    totals: { ...totals, outcomes },
    rateBps: 98_000,
    limitBps: 100_000,
    pending: 15,
    sites: [
      sampleView("https://a.example", { deadlineMs: 9, finishedMs: 5 }),
      sampleView("https://b.example", { deadlineMs: 9, finishedMs: 10 }),
      sampleView("https://c.example", { deadlineMs: 9 }),
    ],
  });
  const families = parsed(metricsText(look));
  const value = (name: string, labels = ""): number | undefined =>
    families.get(name)?.samples.get(labels);
  assert.equal(value("weir_up"), 1);
  assert.equal(value("weir_state", '{state="running"}'), 1);
  assert.equal(value("weir_state", '{state="done"}'), 0);
  assert.equal(value("weir_received_bytes_total"), 5e6);
  assert.equal(value("weir_rate_bytes_per_second"), 98_000);
  assert.equal(value("weir_limit_bytes_per_second"), 100_000);
  assert.equal(value("weir_urls_pending"), 15);
  assert.equal(value("weir_outcomes_total", '{reason="http_4xx"}'), 2);
  assert.equal(value("weir_outcomes_total", '{reason="http_5xx"}'), 1);
  assert.equal(value("weir_outcomes_total", '{reason="robots_denied"}'), 1);
  assert.equal(value("weir_deadlines", '{standing="met"}'), 1);
  assert.equal(value("weir_deadlines", '{standing="missed"}'), 1);
  assert.equal(value("weir_deadlines", '{standing="in_time"}'), 1);
  assert.equal(families.get("weir_pages_total")?.type, "counter");
  assert.ok([...families.keys()].every((name) => name.startsWith("weir_")));
});

test("no limit is infinite, and what was never is zero", () => {
  const families = parsed(metricsText(sampleLook()));
  assert.equal(families.get("weir_limit_bytes_per_second")?.samples.get(""), Infinity);
  assert.equal(families.get("weir_ledger_bytes_total")?.samples.size, 8);
});

test("nothing from the web becomes a label: the number of series does not depend on it", () => {
  const usual = parsed(metricsText(sampleLook()));
  const outcomes = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`http_${index}`, 1]).concat([
      ['x"}\nweir_up 7\n', 3],
      ["__proto__x", 1],
    ]),
  );
  const hostile = parsed(
    metricsText(
      sampleLook({
        totals: { ...NO_TOTALS, outcomes },
        because: 'a"\nweir_up 9',
        sites: Array.from({ length: 100 }, (_, index) => sampleView(`http://${index}"\n.example`)),
      }),
    ),
  );
  assert.deepEqual(series(hostile), series(usual));
  const sums = [...(hostile.get("weir_outcomes_total")?.samples.values() ?? [])];
  assert.equal(
    sums.reduce((sum, count) => sum + count, 0),
    504,
  );
});

test("the manual names every metric, and the dashboard for Grafana no other", () => {
  const made = [...parsed(metricsText(sampleLook())).keys()].toSorted();
  const namesIn = (file: string): string[] => {
    const text = readFileSync(new URL(`../../docs/${file}`, import.meta.url), "utf8");
    return [...new Set(text.match(/\bweir_[a-z_]+/g))].toSorted();
  };
  assert.deepEqual(namesIn("metrics.md"), made);
  const grafana = namesIn("grafana/weir.json");
  assert.ok(grafana.length > 8);
  assert.deepEqual(
    grafana.filter((name) => !made.includes(name)),
    [],
  );
});
