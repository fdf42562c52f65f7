import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "../config/sources.ts";
import type { Membership } from "../exchange/bus.ts";
import { emptyDivision } from "./ownership.ts";
import { firstDivision, partitionOf, teamMeansFor, topicOwners } from "./team-setup.ts";

const PLACE = { self: "a", size: 2, seeds: [], bus: {} as Membership };

test("sites are a process's own where it owns them and does not cross over", () => {
  const settings = defaultSettings();
  const division = emptyDivision(partitionOf(settings));
  const rulesOf = (change: Partial<typeof settings>): ReturnType<typeof teamMeansFor>["rules"] =>
    teamMeansFor({ ...settings, ...change }, { ...PLACE, division }).rules;
  assert.equal(rulesOf({}).sitesAreOwn, true);
  assert.equal(rulesOf({ mode: "cross-over" }).sitesAreOwn, false);
  assert.equal(rulesOf({ mode: "cross-over" }).crossesOver, true);
  assert.equal(rulesOf({ partition: "url-hash" }).sitesAreOwn, false);
  assert.equal(rulesOf({ coordination: "dynamic" }).isHandedOut, true);
});

test("independent processes have no ownership", () => {
  const { border, rules } = teamMeansFor(defaultSettings(), { ...PLACE, division: undefined });
  assert.equal(border, undefined);
  assert.equal(rules.sitesAreOwn, false);
});

test("topics have fixed owners from the start, other parts do not", () => {
  const settings = { ...defaultSettings(), partition: "topic" as const, topics: true };
  const owners = topicOwners(settings, ["a", "b"]) ?? [];
  assert.deepEqual(new Set(owners), new Set(["a", "b"]));
  assert.equal(firstDivision(owners, ["a", "b"])?.owners, owners);
  assert.equal(firstDivision(topicOwners(defaultSettings(), ["a"]), ["a"]), undefined);
});
