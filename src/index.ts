/** What a program that uses Weir may import. */

export { crawl, type Crawl, type CrawlOptions } from "./crawl/library.ts";
export type { CrawledPage, CrawlHooks } from "./crawl/hooks.ts";
export type { CrawlResult, Snapshot, SiteView, Trouble, CrawlState } from "./crawl/snapshot.ts";
export { CrawlError, type ErrorCode } from "./base/errors.ts";
export type { Settings } from "./config/schema.ts";
