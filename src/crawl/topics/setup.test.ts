import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "../../config/schema.ts";
import { defaultSettings } from "../../config/sources.ts";
import { worldModel } from "../../lab/world-model.ts";
import { Labelling, PlacingByContent, PlacingByTopic } from "./assign.ts";
import { focusFor, modelFor, topicSetupFor } from "./setup.ts";

const MODEL = worldModel();
const [TOPIC = "", OTHER = ""] = MODEL.trained.topics;

test("no model is loaded unless a setting needs it", () => {
  assert.equal(modelFor(defaultSettings()), undefined);
  assert.equal(topicSetupFor(defaultSettings()), undefined);
  assert.ok(modelFor(settings({ topicsModel: "ready" })) !== undefined);
  assert.ok(modelFor(settings({ order: "topic" })) !== undefined);
});

test("the partition decides how pages are placed", () => {
  const byTopic = { partition: "topic", procs: 2 } as const;
  const byContent = { partition: "content-hash", procs: 2 } as const;
  assert.ok(topicSetupFor(settings({}), MODEL)?.placing instanceof Labelling);
  assert.ok(topicSetupFor(settings(byTopic), MODEL)?.placing instanceof PlacingByTopic);
  const hashed = topicSetupFor(settings(byContent), undefined);
  assert.ok(hashed?.placing instanceof PlacingByContent);
  assert.equal(hashed.classifier, undefined);
});

test("a topic that the model lacks is refused with the nearest name", () => {
  const wrong = `${TOPIC.slice(0, -1)}x`;
  assert.throws(
    () => topicSetupFor(settings({ order: "topic", topic: wrong }), MODEL),
    (error: Error) => {
      assert.match(error.message, new RegExp(`no topic "${wrong}".*${TOPIC}`));
      return true;
    },
  );
  assert.throws(() => topicSetupFor(settings({ order: "topic" }), MODEL), /needs --topic/);
  assert.throws(() => topicSetupFor(settings({ smallTopic: "?" }), MODEL), /has no topic/);
});

test("only an order by topic has a focus", () => {
  const classifier = topicSetupFor(settings({ topic: OTHER }), MODEL)?.classifier;
  assert.equal(focusFor(settings({ topic: OTHER }), classifier), undefined);
  assert.ok(focusFor(settings({ order: "topic", topic: OTHER }), classifier) !== undefined);
  assert.equal(focusFor(settings({ order: "topic", topic: OTHER }), undefined), undefined);
});

function settings(changes: Partial<Settings>): Settings {
  return { ...defaultSettings(), ...changes };
}
