/** Exports of the package's `./lab`: a synthetic web to test a crawler on, and checkers of its crawl. */

export { type Books, checkAccounts, checkTruth } from "./checkers/accounts.ts";
export { checkArchive } from "./checkers/archive.ts";
export { checkOnce, type OnceEvidence } from "./checkers/once.ts";
export { checkPoliteness, type PolitenessRules } from "./checkers/politeness.ts";
export { checkRateLimit, type LimitFrom, type RateEvidence } from "./checkers/rate-limit.ts";
export type { Violation } from "./violation.ts";
export type { Experiment, ExperimentOptions, Findings, Plot } from "./experiments/experiment.ts";
export { EXPERIMENTS } from "./experiments/registry.ts";
export { digestOf, type Fate, groundTruth, pageCountOf, type TruePage } from "./ground-truth.ts";
export { type Evidence, judge } from "./judge.ts";
export { type RequestEntry, RequestLog } from "./request-log.ts";
export { runSim, type SimPlan, type SimReport } from "./run-sim.ts";
export { type ServeOptions, serveWorld, type WorldServer } from "./serve.ts";
export { respond, seedUrls, siteNamed, type WorldAnswer } from "./world.ts";
export {
  addressedSites,
  hostedSites,
  namedSites,
  type Naming,
  portedSites,
} from "./world/naming.ts";
export { makeWorld, type World, type WorldPlan } from "./world/plan.ts";
export { type Site, siteAt, speedBpsAt } from "./world/site.ts";
export { type MixName, PAGE_MIXES } from "./world/mixes.ts";
export { TOPICS } from "./world/vocabulary.ts";
