import assert from "node:assert/strict";
import { test } from "node:test";
import type { CanonicalUrl } from "../url/url.ts";
import { recrawlMistakes, recrawlRemarks } from "./recrawl.ts";
import type { Settings } from "./schema.ts";
import { defaultSettings, gatherSettings } from "./sources.ts";

const STRANGER = ["https://www.example.com/" as CanonicalUrl];
const OWN = ["http://127.0.0.1:8000/" as CanonicalUrl];

async function settingsOf(...words: string[]): Promise<Settings> {
  const { settings, mistakes } = await gatherSettings(["https://www.example.com/", ...words], {});
  assert.deepEqual(mistakes, []);
  return settings;
}

test("a watch with a schedule is in order, and nothing is said of it", async () => {
  const settings = await settingsOf("--watch", "--schedule", "mon-fri 06:30");
  assert.deepEqual(recrawlMistakes(settings, STRANGER), []);
  assert.deepEqual(recrawlRemarks(settings, STRANGER), []);
  assert.deepEqual(recrawlMistakes(defaultSettings(), STRANGER), []);
});

test("strangers are not asked more than once a minute, one's own site every second", async () => {
  const settings = await settingsOf("--watch", "--schedule", "every 30s");
  assert.match(
    recrawlMistakes(settings, STRANGER).join(),
    /^--schedule every 30s: at least every 1m for a public site; --own-sites if it is yours$/,
  );
  assert.deepEqual(recrawlMistakes(settings, OWN), []);
  assert.deepEqual(recrawlMistakes({ ...settings, ownSites: true }, STRANGER), []);
});

test("a deadline longer than the time between rounds, and a run too short for two, are remarked", async () => {
  const settings = await settingsOf("--watch", "--schedule", "every 10m", "--deadline", "30m");
  assert.match(
    recrawlRemarks(settings, OWN).join(),
    /a recrawl may take 30 min 0 s by its deadline/,
  );
  const short = await settingsOf("--watch", "--schedule", "every 1h", "--time", "20m");
  assert.match(recrawlRemarks(short, OWN).join(), /--time ends this run after 20 min 0 s/);
});

test("`none` takes back a schedule that an outweighed place gave", async () => {
  const settings = await settingsOf("--schedule", "none");
  assert.equal(settings.schedule, undefined);
});
