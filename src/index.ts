/** What a program that uses Weir may import. The comments name the pages in docs/api/. */

// crawl: Crawl from a program
export { crawl, type Crawl, type CrawlOptions, type SiteOptions } from "./crawl/library.ts";
export type { CrawledPage, CrawlHooks, DeadlineNotice } from "./crawl/hooks.ts";
export type { CrawlResult, Snapshot, SiteView, Trouble, CrawlState } from "./control/snapshot.ts";
export type { Log, LogEntry, LogLevel } from "./base/log.ts";

// settings: Settings and errors
export { settingsFrom } from "./config/order.ts";
export type { Settings, SiteSettings } from "./config/schema.ts";
export { CrawlError, type ErrorCode } from "./base/errors.ts";

// archive: Read an archive
export { readRecords, type WarcRecord } from "./output/warc/warc-read.ts";
export { httpMessage, type HttpMessage } from "./output/warc/warc-read.ts";

// topics: Classify pages
export { loadTopicModel } from "./config/topic-model.ts";
export { Classifier, type Verdict } from "./topics/classify.ts";
