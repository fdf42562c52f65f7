import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "./order.ts";
import { defaultSettings } from "./sources.ts";
import { settingsToSave } from "./saved-settings.ts";

test("what differs from the default is told with its unit, and nothing else", async () => {
  assert.deepEqual(settingsToSave(defaultSettings()), []);
  const words = ["http://127.0.0.1:8000/", "--limit", "2MB/s", "--quota", "20GB/month"];
  const more = ["--schedule", "every 1h", "--watch", "--delay", "500ms", "--no-warc"];
  const local = ["--allow-private", "127.0.0.0/8"];
  assert.deepEqual(settingsToSave(await settingsFrom([...words, ...more, ...local])), [
    { key: "start", text: "http://127.0.0.1:8000/" },
    { key: "limit", text: "2.00 MB/s" },
    { key: "quota", text: "20.0 GB/month" },
    { key: "watch", text: "on" },
    { key: "schedule", text: "every 1h" },
    { key: "delay", text: "500 ms" },
    { key: "allowPrivate", text: "127.0.0.0/8" },
    { key: "warc", text: "off" },
  ]);
});

test("lists, rules and calendars are told as they are written", async () => {
  const words = ["http://127.0.0.1:8000/", "--allow-private", "127.0.0.0/8"];
  const lists = ["--include", "*127*", "--exclude", "*b*", "--accept-types", "text/html"];
  const rules = ["--procs", "2", "--partition", "hierarchical", "--partition-rules", "de=.de"];
  const calendar = ["--limit-at", "mon-fri 08:00-18:00=1MB/s,else=none", "--holidays", "DE"];
  const told = settingsToSave(await settingsFrom([...words, ...lists, ...rules, ...calendar]));
  const byKey = new Map(told.map(({ key, text }) => [key, text]));
  assert.equal(byKey.get("partitionRules"), "de=.de");
  assert.equal(byKey.get("limitAt"), "mon-fri 08:00-18:00=1MB/s,else=none");
  assert.doesNotMatch(JSON.stringify(told), /object|undefined|[{]\\/);
});

test("no secret is told, nor where things lie on this machine", () => {
  const told = settingsToSave({
    ...defaultSettings(),
    urls: ["https://example.org/"],
    proxy: "http://name:hidden@127.0.0.1:3128/",
    dashboardToken: "hidden-hidden-hidden-hidden",
    natsPassword: "hidden",
    outFolder: "/home/hidden/out",
    replicateFile: "/home/hidden/popular.txt",
    topicsModel: "/home/hidden/mine.model",
  });
  assert.doesNotMatch(JSON.stringify(told), /hidden/);
  assert.deepEqual(told.at(-1), { key: "topics", text: "mine.model" });
});

test("sites are told each with what was said of it", () => {
  const url = "https://news.example/";
  const site = { url, deadlineMs: 30_000, sizeBytes: 2e6, priority: 2 };
  const sites = [site, { url: "https://docs.example/", priority: 1 }] as unknown as ReturnType<
    typeof defaultSettings
  >["sites"];
  assert.deepEqual(settingsToSave({ ...defaultSettings(), sites }), [
    { key: "start", text: `${url}, https://docs.example/` },
    { key: "site", text: `${url}, deadline 30 s, size 2.00 MB, priority 2` },
  ]);
});
