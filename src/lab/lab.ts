/**
 * Exports of the package's `./lab`: a synthetic web to test a crawler on, and checkers of its crawl. The comments name
 * the pages in docs/api/.
 */

// lab-world: A synthetic web
export { makeWorld, type World, type WorldPlan } from "./world/plan.ts";
export { type MixName, PAGE_MIXES } from "./world/mixes.ts";
export { type Site, siteAt, speedBpsAt } from "./world/site.ts";
export { respond, seedUrls, siteNamed, type WorldAnswer } from "./world.ts";
export { digestOf, type Fate, groundTruth, pageCountOf, type TruePage } from "./ground-truth.ts";
export { namedSites, type Naming } from "./world/naming.ts";
export { addressedSites, hostedSites, portedSites } from "./world/naming.ts";
export { TOPICS } from "./world/vocabulary.ts";

// lab-serve: Serve a synthetic web
export { type ServeOptions, serveWorld, type WorldServer } from "./serve.ts";
export { type RequestEntry, RequestLog } from "./request-log.ts";

// lab-simulation: Simulate a crawl
export { runSim, type SimPlan, type SimReport } from "./run-sim.ts";

// lab-checkers: Check a crawl
export { type Evidence, judge } from "./judge.ts";
export type { Violation } from "./violation.ts";
export { type Books, checkAccounts, checkTruth } from "./checkers/accounts.ts";
export { checkArchive } from "./checkers/archive.ts";
export { checkOnce, type OnceEvidence } from "./checkers/once.ts";
export { checkPoliteness, type PolitenessRules } from "./checkers/politeness.ts";
export { checkRateLimit, type LimitFrom, type RateEvidence } from "./checkers/rate-limit.ts";

// lab-experiments: Repeat an experiment
export { EXPERIMENTS } from "./experiments/registry.ts";
export type { Experiment, ExperimentOptions, Findings, Plot } from "./experiments/experiment.ts";
