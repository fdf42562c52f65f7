/** What a program that uses Weir may import. */

export { crawl, type Crawl, type CrawlOptions } from "./crawl/library.ts";
export type { CrawledPage, CrawlHooks, DeadlineNotice } from "./crawl/hooks.ts";
export type { CrawlResult, Snapshot, SiteView, Trouble, CrawlState } from "./control/snapshot.ts";
export { CrawlError, type ErrorCode } from "./base/errors.ts";
export { settingsFrom } from "./config/order.ts";
export type { Settings } from "./config/schema.ts";
export { loadTopicModel } from "./config/topic-model.ts";
export {
  httpMessage,
  type HttpMessage,
  readRecords,
  type WarcRecord,
} from "./output/warc/warc-read.ts";
export { Classifier, type Verdict } from "./topics/classify.ts";
