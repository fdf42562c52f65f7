import assert from "node:assert/strict";
import { test } from "node:test";
import { CrawlError } from "../../base/errors.ts";
import { collectionOf } from "../topics-collections.ts";
import { hasTopicsData } from "../topics-data.ts";
import { evaluate, topicsAccuracy } from "./topics-accuracy.ts";
import { topicsLocality } from "./topics-locality.ts";

const needsData = { skip: !hasTopicsData() && "needs ../shared/data" };

test("without the labelled pages the experiments report the missing file", async () => {
  process.env["WEIR_DATA"] = "/nowhere/at/all";
  try {
    for (const experiment of [topicsAccuracy, topicsLocality])
      await assert.rejects(experiment.run({ seed: 1, runs: 1 }), (error) => {
        assert.ok(error instanceof CrawlError);
        assert.match(error.message, /Labelled pages are missing.*WEIR_DATA/);
        return true;
      });
  } finally {
    delete process.env["WEIR_DATA"];
  }
});

test(
  "on Wikipedia for Schools the accuracies have the paper's order, and Weir's own method is best",
  needsData,
  async () => {
    const examples = await collectionOf("wikipedia");
    const [bayes = 0, lewis = 0, rocchio = 0, linear = 0] = (
      ["naive-bayes", "lewis", "rocchio", "linear"] as const
    ).map((method) => evaluate(examples, method, 1).accuracy);
    assert.ok(bayes >= 0.79, `Naive Bayes ${bayes}`);
    assert.ok(linear >= 0.825, `linear ${linear}`);
    assert.ok(
      linear > bayes && bayes > lewis && lewis > rocchio,
      `${[linear, bayes, lewis, rocchio]}`,
    );
  },
);
