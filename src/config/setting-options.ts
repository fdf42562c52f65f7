/**
 * Every setting with its meaning, as editors show it. Made by scripts/setting-options.ts from the tables of settings;
 * changes here are lost.
 */

/* eslint-disable max-lines -- one member for each setting */
import type { Resolved } from "./field.ts";
import type { SETTINGS, SITE_SETTINGS } from "./schema.ts";

type Values = Resolved<typeof SETTINGS>;
type SiteValues = Resolved<typeof SITE_SETTINGS>;

/** Settings of a crawl, all optional. */
export interface SettingOptions {
  /**
   * Settings file. By default ./weir.yaml, if it exists and no URL is given.
   *
   * Command line only: `--config FILE`, the name of a file.
   */
  readonly configFile?: Values["configFile"];
  /**
   * File of seed URLs, one per line; # starts a comment. Invalid lines are reported and skipped.
   *
   * Command line: `--seeds FILE`, the name of a file; weir.yaml: `seeds`; environment: `WEIR_SEEDS`.
   */
  readonly seedsFile?: Values["seedsFile"];
  /**
   * Folder for state, archive and report, readable only by its owner (mode 0700). By default weir-data/\<first site>.
   *
   * Command line: `--out DIR`, the name of a folder; weir.yaml: `out`; environment: `WEIR_OUT`.
   */
  readonly outFolder?: Values["outFolder"];
  /**
   * Delete the state of an earlier crawl in the folder and start over. Default `false`.
   *
   * Command line only: `--fresh`.
   */
  readonly fresh?: Values["fresh"];
  /**
   * Fetch the pages of the last run again before new ones; unchanged pages cost one 304 response each. An interrupted
   * run is finished first. Default `false`.
   *
   * Command line only: `--refresh`.
   */
  readonly refresh?: Values["refresh"];
  /**
   * Stop after this many pages, earlier runs included; with --refresh, after this many fetched again. No limit by
   * default.
   *
   * Command line: `--pages N`, a whole number from 1 to 1000000000000; weir.yaml: `pages`; environment: `WEIR_PAGES`.
   */
  readonly pagesMax?: Values["pagesMax"];
  /**
   * Follow at most this many links from a seed; 0 fetches only the seeds.
   *
   * Command line: `--depth N`, a whole number from 0 to 100000; weir.yaml: `depth`; environment: `WEIR_DEPTH`.
   */
  readonly depthMax?: Values["depthMax"];
  /**
   * Stop this run after this time; the same command resumes it. No limit by default. A number in milliseconds.
   *
   * Command line: `--time DURATION`, a duration from 100ms to 3650d, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `time`; environment: `WEIR_TIME`.
   */
  readonly timeMaxMs?: Values["timeMaxMs"];
  /**
   * When only sites that cannot be reached are left, stop after this time without a response; the same command tries
   * them again. By default 15m, or until the latest deadline. With --watch it never stops. A number in milliseconds.
   *
   * Command line: `--patience DURATION`, a duration from 1s to 365d, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `patience`; environment: `WEIR_PATIENCE`.
   */
  readonly patienceMs?: Values["patienceMs"];
  /**
   * Links to follow: `site` same scheme, host and port as a seed; `domain` same registrable domain; `host-list` hosts
   * of the seeds; `any` all. Where a seed redirects to counts as a seed. Default `"site"`.
   *
   * Command line: `--scope site|domain|host-list|any`, one of site, domain, host-list, any; weir.yaml: `scope`;
   * environment: `WEIR_SCOPE`.
   */
  readonly scope?: Values["scope"];
  /**
   * Follow only URLs that match one of these patterns, seeds included; * matches any text.
   *
   * Command line: `--include PATTERN`, patterns of URLs, such as https://example.org/docs/* (may be repeated);
   * weir.yaml: `include`; environment: `WEIR_INCLUDE`.
   */
  readonly include?: Values["include"];
  /**
   * Never follow URLs that match one of these patterns, seeds included; wins over --include.
   *
   * Command line: `--exclude PATTERN`, patterns of URLs, such as *\/print/* (may be repeated); weir.yaml: `exclude`;
   * environment: `WEIR_EXCLUDE`.
   */
  readonly exclude?: Values["exclude"];
  /**
   * Crawl order: `breadth` fewest links from a seed first; `backlinks` most linked first; `pagerank` highest PageRank
   * first; `topic` most likely about --topic first. Default `"breadth"`.
   *
   * Command line: `--order breadth|backlinks|pagerank|topic`, one of breadth, backlinks, pagerank, topic; weir.yaml:
   * `order`; environment: `WEIR_ORDER`.
   */
  readonly order?: Values["order"];
  /**
   * Most URLs accepted per site; bounds endless sites. No budget and no defence against traps refuses a seed. Default
   * `1000000`.
   *
   * Command line: `--site-budget N`, a whole number from 1 to 1000000000000; weir.yaml: `siteBudget`; environment:
   * `WEIR_SITE_BUDGET`.
   */
  readonly siteUrlsMax?: Values["siteUrlsMax"];
  /**
   * Most URLs accepted per registrable domain of a seed, all its hosts together; other domains get less, depending on
   * how many domains link to them. Default `1000000`.
   *
   * Command line: `--domain-budget N`, a whole number from 1 to 1000000000000; weir.yaml: `domainBudget`; environment:
   * `WEIR_DOMAIN_BUDGET`.
   */
  readonly domainUrlsMax?: Values["domainUrlsMax"];
  /**
   * What to do with URLs of a pattern that has brought only copies and pages not to be indexed (sort orders, edit
   * pages, login forms): learn requests them last, and then a sample; off requests all. Default `"learn"`.
   *
   * Command line: `--traps learn|off`, one of learn, off; weir.yaml: `traps`; environment: `WEIR_TRAPS`.
   */
  readonly traps?: Values["traps"];
  /**
   * Most URLs per site that differ only in numbers or query values; bounds calendars and similar traps. Default
   * `50000`.
   *
   * Command line: `--pattern-budget N`, a whole number from 1 to 1000000000000; weir.yaml: `patternBudget`;
   * environment: `WEIR_PATTERN_BUDGET`.
   */
  readonly patternUrlsMax?: Values["patternUrlsMax"];
  /**
   * Most bytes received per second by the whole crawl, with headers, TLS, robots.txt and packet headers. No limit by
   * default. A number in bytes per second.
   *
   * Command line: `--limit RATE`, a rate from 4KB/s to 100GB/s, such as 500KB/s, 2MB/s or 8Mbit/s, or none; weir.yaml:
   * `limit`; environment: `WEIR_LIMIT`.
   */
  readonly limitBps?: Values["limitBps"];
  /**
   * Limit by time of the week: days (mon-fri, sat, daily, weekend, holiday), times, = and a rate, none or pause. `else`
   * is the rest of the week; by default --limit.
   *
   * Command line: `--limit-at CALENDAR`, times and their rates, such as 'mon-fri 08:00-18:00=1MB/s,else=8MB/s' or
   * '22:00-06:00=none,else=pause', or none; weir.yaml: `limitAt`; environment: `WEIR_LIMIT_AT`.
   */
  readonly limitAt?: Values["limitAt"];
  /**
   * Most bytes received per second from one site, packet headers included. No limit by default. A number in bytes per
   * second.
   *
   * Command line: `--site-limit RATE`, a rate from 4KB/s to 100GB/s, such as 500KB/s, 2MB/s or 8Mbit/s, or none;
   * weir.yaml: `siteLimit`; environment: `WEIR_SITE_LIMIT`.
   */
  readonly siteLimitBps?: Values["siteLimitBps"];
  /**
   * Most bytes received per calendar day or month, packet headers included. The crawl stops when it is used up; the
   * same command resumes it in the next period. No quota by default.
   *
   * Command line: `--quota SIZE/day|month`, a size per day or month from 1MB up, such as 5GB/day or 200GB/month, or
   * none; weir.yaml: `quota`; environment: `WEIR_QUOTA`.
   */
  readonly quota?: Values["quota"];
  /**
   * How the limit is enforced: `paced` reserves bandwidth for each response and slows down large ones; `predict` starts
   * only downloads that are expected to fit (Diligenti et al.); `onoff` starts a download below the limit and stops one
   * above it (Shkapenyuk and Suel). The last two are for comparison. Default `"paced"`.
   *
   * Command line: `--control paced|predict|onoff`, one of paced, predict, onoff; weir.yaml: `control`; environment:
   * `WEIR_CONTROL`.
   */
  readonly control?: Values["control"];
  /**
   * How many queued URLs to try for one that fits under the limit. Default `6`.
   *
   * Command line: `--max-depth-search N`, a whole number from 1 to 10000; weir.yaml: `maxDepthSearch`; environment:
   * `WEIR_MAX_DEPTH_SEARCH`.
   */
  readonly searchDepthMax?: Values["searchDepthMax"];
  /**
   * Longest time that a URL is skipped because it does not fit under the limit. A number in milliseconds. Default
   * `30000`.
   *
   * Command line: `--max-wait DURATION`, a duration from 100ms to 1h, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `maxWait`; environment: `WEIR_MAX_WAIT`.
   */
  readonly waitMaxMs?: Values["waitMaxMs"];
  /**
   * Share that packet headers and acknowledgements add to the received bytes. `auto` computes it from packet sizes. A
   * number from 0 to 1. Default `"auto"`.
   *
   * Command line: `--packet-overhead auto|SHARE`, auto, or a share from 0% to 50%, such as 4%; weir.yaml:
   * `packetOverhead`; environment: `WEIR_PACKET_OVERHEAD`.
   */
  readonly packetOverhead?: Values["packetOverhead"];
  /**
   * Slow down while other programs use the line, detected by longer round-trip times. Default `false`.
   *
   * Command line: `--good-neighbour`; weir.yaml: `goodNeighbour`; environment: `WEIR_GOOD_NEIGHBOUR`.
   */
  readonly goodNeighbour?: Values["goodNeighbour"];
  /**
   * Time zone of --limit-at, --quota and the speed table. By default that of the machine.
   *
   * Command line: `--time-zone ZONE`, the name of a time zone, such as Europe/Rome or UTC; weir.yaml: `timeZone`;
   * environment: `WEIR_TIME_ZONE`.
   */
  readonly timeZone?: Values["timeZone"];
  /**
   * Country whose public holidays count as `holiday`. By default none.
   *
   * Command line: `--holidays COUNTRY`, a country by its two letters, with a part of it where that matters: IT, US-CA,
   * DE-BY, or none; weir.yaml: `holidays`; environment: `WEIR_HOLIDAYS`.
   */
  readonly holidays?: Values["holidays"];
  /**
   * Weight of a new speed measurement against older ones (k). Default `0.3`.
   *
   * Command line: `--speed-gain N`, a number from 0.01 to 1; weir.yaml: `speedGain`; environment: `WEIR_SPEED_GAIN`.
   */
  readonly speedGain?: Values["speedGain"];
  /**
   * How far a speed measurement applies around its time of day (σ of a Gaussian). A number in minutes. Default `120`.
   *
   * Command line: `--speed-spread DURATION`, a duration from 1m to 1440m, such as 90m or 2h; weir.yaml: `speedSpread`;
   * environment: `WEIR_SPEED_SPREAD`.
   */
  readonly speedSpreadMinutes?: Values["speedSpreadMinutes"];
  /**
   * File for the measured speeds of servers, which several crawls may share. By default in the crawl's folder.
   *
   * Command line: `--speeds FILE`, the name of a file, or none; weir.yaml: `speeds`; environment: `WEIR_SPEEDS`.
   */
  readonly speedsFile?: Values["speedsFile"];
  /**
   * Most servers in the speed table; the least useful ones are removed. Default `100000`.
   *
   * Command line: `--servers-max N`, a whole number from 1 to 10000000; weir.yaml: `serversMax`; environment:
   * `WEIR_SERVERS_MAX`.
   */
  readonly serversMax?: Values["serversMax"];
  /**
   * Time after the start by which each seed's site must be done, unless it has its own deadline. No deadline by
   * default. A number in milliseconds.
   *
   * Command line: `--deadline DURATION`, a duration from 1s to 366d, such as 500ms, 30s, 15m, 2h or 1d, or none;
   * weir.yaml: `deadline`; environment: `WEIR_DEADLINE`.
   */
  readonly deadlineMs?: Values["deadlineMs"];
  /**
   * Goal besides deadlines: `min-sum` minimises the sum of finish times, weighted by priority; `min-max` minimises the
   * last finish time. By default min-sum if there is a deadline or a priority, otherwise all sites are equal.
   *
   * Command line: `--objective min-sum|min-max`, one of min-sum, min-max; weir.yaml: `objective`; environment:
   * `WEIR_OBJECTIVE`.
   */
  readonly objective?: Values["objective"];
  /**
   * Planner: `optimal`, or `m-maxt`, `m-sumt`, `cpq`, `mip` of Zhu et al. for comparison. Default `"optimal"`.
   *
   * Command line: `--algorithm optimal|m-maxt|m-sumt|cpq|mip`, one of optimal, m-maxt, m-sumt, cpq, mip; weir.yaml:
   * `algorithm`; environment: `WEIR_ALGORITHM`.
   */
  readonly algorithm?: Values["algorithm"];
  /**
   * Most sites crawled at the same time (m). No limit by default.
   *
   * Command line: `--max-sites N`, a whole number from 1 to 1000000, or none; weir.yaml: `maxSites`; environment:
   * `WEIR_MAX_SITES`.
   */
  readonly sitesAtOnceMax?: Values["sitesAtOnceMax"];
  /**
   * Least rate of a site that is being crawled (v*). None by default. A number in bytes per second.
   *
   * Command line: `--min-rate RATE`, a rate from 1 B/s to 100 GB/s, such as 1KiB/s, 2MB/s or 8Mbit/s, or none;
   * weir.yaml: `minRate`; environment: `WEIR_MIN_RATE`.
   */
  readonly rateMinBps?: Values["rateMinBps"];
  /**
   * Time from the start of a site to its first page (t), for plans. A number in milliseconds. Default `0`.
   *
   * Command line: `--startup DURATION`, a duration from 0ms to 1h, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `startup`; environment: `WEIR_STARTUP`.
   */
  readonly startupMs?: Values["startupMs"];
  /**
   * Do not start if a deadline cannot be met (exit code 1) or an entry of `sites:` is invalid (exit code 2). With
   * `sure`, neither if a deadline depends on an estimate. By default the other sites are crawled. Default `false`.
   *
   * Command line: `--strict`; weir.yaml: `strict`; environment: `WEIR_STRICT`.
   */
  readonly strict?: Values["strict"];
  /**
   * Keep running and recrawl each site by its `schedule`. Ctrl-C stops; the same command resumes. Default `false`.
   *
   * Command line: `--watch`; weir.yaml: `watch`; environment: `WEIR_WATCH`.
   */
  readonly watch?: Values["watch"];
  /**
   * With --watch: `every 1h` from the start of one recrawl to the next, `daily 06:30` or `mon-fri 06:30`. Once by
   * default.
   *
   * Command line: `--schedule WHEN`, a schedule, such as 'every 1h', 'daily 06:30' or 'mon-fri 06:30', or none;
   * weir.yaml: `schedule`; environment: `WEIR_SCHEDULE`.
   */
  readonly schedule?: Values["schedule"];
  /**
   * Skip a page in a recrawl if it is less likely than this to have changed; 0% fetches every page each time. A number
   * from 0 to 1. Default `0.1`.
   *
   * Command line: `--revisit-chance SHARE`, a share from 0% to 100%, such as 10%; weir.yaml: `revisitChance`;
   * environment: `WEIR_REVISIT_CHANCE`.
   */
  readonly revisitChance?: Values["revisitChance"];
  /**
   * Fetch a page again after this time at the latest, even if it seldom changes. A number in milliseconds. Default
   * `604800000`.
   *
   * Command line: `--revisit-max DURATION`, a duration from 0ms to 3650d, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `revisitMax`; environment: `WEIR_REVISIT_MAX`.
   */
  readonly revisitMaxMs?: Values["revisitMaxMs"];
  /**
   * Crawling processes on this machine. They share limit, politeness and work, and report as one crawl. Default `1`.
   *
   * Command line: `--procs N`, a whole number from 1 to 64; weir.yaml: `procs`; environment: `WEIR_PROCS`.
   */
  readonly procs?: Values["procs"];
  /**
   * How processes divide the work: `static` by the partition; `dynamic` idle processes get further parts; `independent`
   * each crawls its own seeds. Default `"static"`.
   *
   * Command line: `--coordination independent|dynamic|static`, one of independent, dynamic, static; weir.yaml:
   * `coordination`; environment: `WEIR_COORDINATION`.
   */
  readonly coordination?: Values["coordination"];
  /**
   * Links to URLs of another process: `exchange` sends them there; `firewall` drops them; `cross-over` follows them
   * when the process has no other work. By default exchange.
   *
   * Command line: `--mode firewall|cross-over|exchange`, one of firewall, cross-over, exchange; weir.yaml: `mode`;
   * environment: `WEIR_MODE`.
   */
  readonly mode?: Values["mode"];
  /**
   * How URLs are divided among processes: `site-hash` by host; `url-hash` by URL; `hierarchical` by --partition-rules;
   * `topic` or `content-hash` by the content of pages, which are then sent to their owners. By default site-hash.
   *
   * Command line: `--partition url-hash|site-hash|hierarchical|topic|content-hash`, one of url-hash, site-hash,
   * hierarchical, topic, content-hash; weir.yaml: `partition`; environment: `WEIR_PARTITION`.
   */
  readonly partition?: Values["partition"];
  /**
   * For --partition hierarchical: groups of URLs; the first match wins.
   *
   * Command line: `--partition-rules GROUP=MATCH`, a group and what belongs to it: uk=.uk, de=country:de or
   * docs=path:docs.example.org/guide/ (may be repeated); weir.yaml: `partitionRules`; environment:
   * `WEIR_PARTITION_RULES`.
   */
  readonly partitionRules?: Values["partitionRules"];
  /**
   * Number of parts that URLs are divided into; each process owns several. Default `4096`.
   *
   * Command line: `--partitions N`, a whole number from 1 to 8192; weir.yaml: `partitions`; environment:
   * `WEIR_PARTITIONS`.
   */
  readonly bucketCount?: Values["bucketCount"];
  /**
   * With --coordination dynamic: the most parts that an idle process gets at once. Default `8`.
   *
   * Command line: `--grain N`, a whole number from 1 to 8192; weir.yaml: `grain`; environment: `WEIR_GRAIN`.
   */
  readonly grain?: Values["grain"];
  /**
   * Send links to other processes after this many pages. Default `100`.
   *
   * Command line: `--exchange-every N`, a whole number from 1 to 1000000; weir.yaml: `exchangeEvery`; environment:
   * `WEIR_EXCHANGE_EVERY`.
   */
  readonly exchangeEveryPages?: Values["exchangeEveryPages"];
  /**
   * Send links to other processes after this time at the latest. A number in milliseconds. Default `1000`.
   *
   * Command line: `--exchange-wait DURATION`, a duration from 10ms to 1d, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `exchangeWait`; environment: `WEIR_EXCHANGE_WAIT`.
   */
  readonly exchangeEveryMs?: Values["exchangeEveryMs"];
  /**
   * File of popular URLs, one per line, that every process knows, so that links to them are not sent. `weir export
   * --popular` makes one from an earlier crawl.
   *
   * Command line: `--replicate FILE`, a file; weir.yaml: `replicate`; environment: `WEIR_REPLICATE`.
   */
  readonly replicateFile?: Values["replicateFile"];
  /**
   * Detect popular URLs during the crawl: a URL sent by two processes is announced to all and not sent again. Default
   * `false`.
   *
   * Command line: `--popular-found`; weir.yaml: `popularFound`; environment: `WEIR_POPULAR_FOUND`.
   */
  readonly popularFound?: Values["popularFound"];
  /**
   * With --mode firewall: share of other processes' URLs to fetch, without storing them, to estimate the coverage.
   *
   * Command line: `--sample N`, a number from 0.0001 to 1; weir.yaml: `sample`; environment: `WEIR_SAMPLE`.
   */
  readonly sampleShare?: Values["sampleShare"];
  /**
   * Folder of an earlier, complete crawl of the same sites, to measure coverage and quality against.
   *
   * Command line: `--reference DIR`, a folder; weir.yaml: `reference`; environment: `WEIR_REFERENCE`.
   */
  readonly referenceFolder?: Values["referenceFolder"];
  /**
   * NATS servers with JetStream that connect the nodes of a cluster: nats://host:4222, or tls:// to require TLS. User
   * and password or a token in the URL are used to log in and never shown.
   *
   * Command line: `--nats URL`, a URL, such as nats://127.0.0.1:4222 (may be repeated); weir.yaml: `nats`; environment:
   * `WEIR_NATS`.
   */
  readonly natsServers?: Values["natsServers"];
  /**
   * Name of the crawl in the cluster; several crawls can share a NATS server. Default `"weir"`.
   *
   * Command line: `--crawl NAME`, a name of up to 63 characters; weir.yaml: `crawl`; environment: `WEIR_CRAWL`.
   */
  readonly crawlName?: Values["crawlName"];
  /**
   * Name of this node in the cluster. By default the host name and a number stored in the folder.
   *
   * Command line: `--node NAME`, a name of up to 63 characters; weir.yaml: `node`; environment: `WEIR_NODE`.
   */
  readonly nodeName?: Values["nodeName"];
  /**
   * A node that sends nothing for this time is considered lost, and the others take over its part. A node that cannot
   * reach the others continues for four fifths of it. A number in milliseconds. Default `780000`.
   *
   * Command line: `--node-timeout DURATION`, a duration from 5s to 1d, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `nodeTimeout`; environment: `WEIR_NODE_TIMEOUT`.
   */
  readonly nodeTimeoutMs?: Values["nodeTimeoutMs"];
  /**
   * NATS credentials file, as made by `nsc`.
   *
   * Command line: `--nats-credentials FILE`, a file; weir.yaml: `natsCredentials`; environment:
   * `WEIR_NATS_CREDENTIALS`.
   */
  readonly natsCredentialsFile?: Values["natsCredentialsFile"];
  /**
   * File with an NKey seed.
   *
   * Command line: `--nats-nkey FILE`, a file; weir.yaml: `natsNkey`; environment: `WEIR_NATS_NKEY`.
   */
  readonly natsNkeyFile?: Values["natsNkeyFile"];
  /**
   * User name for NATS.
   *
   * Command line: `--nats-user NAME`, a name; weir.yaml: `natsUser`; environment: `WEIR_NATS_USER`.
   */
  readonly natsUser?: Values["natsUser"];
  /**
   * Password for NATS. The variable WEIR_NATS_PASSWORD is safer than a command line.
   *
   * Command line: `--nats-password TEXT`, a password; weir.yaml: `natsPassword`; environment: `WEIR_NATS_PASSWORD`.
   */
  readonly natsPassword?: Values["natsPassword"];
  /**
   * Token for NATS instead of a user. The variable WEIR_NATS_TOKEN is safer than a command line.
   *
   * Command line: `--nats-token TEXT`, a token; weir.yaml: `natsToken`; environment: `WEIR_NATS_TOKEN`.
   */
  readonly natsToken?: Values["natsToken"];
  /**
   * CA certificates to verify the NATS server (PEM).
   *
   * Command line: `--nats-ca FILE`, a file; weir.yaml: `natsCa`; environment: `WEIR_NATS_CA`.
   */
  readonly natsCaFile?: Values["natsCaFile"];
  /**
   * Client certificate for NATS (PEM).
   *
   * Command line: `--nats-cert FILE`, a file; weir.yaml: `natsCert`; environment: `WEIR_NATS_CERT`.
   */
  readonly natsCertFile?: Values["natsCertFile"];
  /**
   * Private key of the client certificate (PEM).
   *
   * Command line: `--nats-key FILE`, a file; weir.yaml: `natsKey`; environment: `WEIR_NATS_KEY`.
   */
  readonly natsKeyFile?: Values["natsKeyFile"];
  /**
   * JetStream domain, if the server is a leaf node and another one stores.
   *
   * Command line: `--nats-domain NAME`, a name; weir.yaml: `natsDomain`; environment: `WEIR_NATS_DOMAIN`.
   */
  readonly natsDomain?: Values["natsDomain"];
  /**
   * NATS servers that store a copy of the data. Default `1`.
   *
   * Command line: `--nats-replicas N`, a whole number from 1 to 5; weir.yaml: `natsReplicas`; environment:
   * `WEIR_NATS_REPLICAS`.
   */
  readonly natsReplicas?: Values["natsReplicas"];
  /**
   * Classify every page: `ready` for the included model, or the file of a model made by `weir topics train`. Off by
   * default; on with --partition topic and --order topic.
   *
   * Command line: `--topics MODEL`, ready, or a file, or none; weir.yaml: `topics`; environment: `WEIR_TOPICS`.
   */
  readonly topicsModel?: Values["topicsModel"];
  /**
   * With --order topic: the topic to look for, as named in the model.
   *
   * Command line: `--topic NAME`, a topic of the model; weir.yaml: `topic`; environment: `WEIR_TOPIC`.
   */
  readonly topic?: Values["topic"];
  /**
   * With --partition topic or content-hash, for a page that another process owns: `page` sends the page there; `links`
   * keeps it and sends its links. Default `"page"`.
   *
   * Command line: `--boundary page|links`, one of page, links; weir.yaml: `boundary`; environment: `WEIR_BOUNDARY`.
   */
  readonly boundary?: Values["boundary"];
  /**
   * Keep pages where they were fetched if the model's confidence is below this. Default `0`.
   *
   * Command line: `--confidence N`, a number from 0 to 1; weir.yaml: `confidence`; environment: `WEIR_CONFIDENCE`.
   */
  readonly confidenceMin?: Values["confidenceMin"];
  /**
   * Topic of pages with fewer than 50 words. By default the first topic of the model, as in the paper.
   *
   * Command line: `--small-pages NAME`, a topic of the model; weir.yaml: `smallPages`; environment: `WEIR_SMALL_PAGES`.
   */
  readonly smallTopic?: Values["smallTopic"];
  /**
   * Pause a site that had more than this share of the last hour's pages, while others have work. The paper uses 0.002.
   * Off by default, because in a small crawl every site exceeds it.
   *
   * Command line: `--host-share N`, a number from 0.0001 to 1, or none; weir.yaml: `hostShare`; environment:
   * `WEIR_HOST_SHARE`.
   */
  readonly hostShareMax?: Values["hostShareMax"];
  /**
   * Least time between two requests to one site. By default 1s for public addresses, 0 for loopback. A number in
   * milliseconds.
   *
   * Command line: `--delay DURATION`, a duration from 0ms to 1h, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml: `delay`;
   * environment: `WEIR_DELAY`.
   */
  readonly delayMs?: Values["delayMs"];
  /**
   * Least time between two requests to one IP address, over all its sites. By default 250ms for public addresses, 0 for
   * loopback. A number in milliseconds.
   *
   * Command line: `--address-delay DURATION`, a duration from 0ms to 1h, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `addressDelay`; environment: `WEIR_ADDRESS_DELAY`.
   */
  readonly addressDelayMs?: Values["addressDelayMs"];
  /**
   * Most requests to one site at the same time. Default `2`.
   *
   * Command line: `--concurrency-per-site N`, a whole number from 1 to 256; weir.yaml: `concurrencyPerSite`;
   * environment: `WEIR_CONCURRENCY_PER_SITE`.
   */
  readonly concurrencyPerSite?: Values["concurrencyPerSite"];
  /**
   * Most requests to one IP address at the same time. Default `8`.
   *
   * Command line: `--concurrency-per-address N`, a whole number from 1 to 1024; weir.yaml: `concurrencyPerAddress`;
   * environment: `WEIR_CONCURRENCY_PER_ADDRESS`.
   */
  readonly concurrencyPerAddress?: Values["concurrencyPerAddress"];
  /**
   * User agent; the name before the / is matched in robots.txt, X-Robots-Tag headers and robots meta tags. Default
   * `"Weir/0.1.0"`.
   *
   * Command line: `--user-agent TEXT`, a product name of letters, - and _, and its version: Name/1.0 (comment);
   * weir.yaml: `userAgent`; environment: `WEIR_USER_AGENT`.
   */
  readonly userAgent?: Values["userAgent"];
  /**
   * Mail address or web page where site owners can reach you, added to the user agent. Required for public sites.
   *
   * Command line: `--contact MAIL|URL`, a mail address or an http(s) URL; weir.yaml: `contact`; environment:
   * `WEIR_CONTACT`.
   */
  readonly contact?: Values["contact"];
  /**
   * You own the sites: public sites may be crawled without --contact and with delays under 100ms. Default `false`.
   *
   * Command line: `--own-sites`; weir.yaml: `ownSites`; environment: `WEIR_OWN_SITES`.
   */
  readonly ownSites?: Values["ownSites"];
  /**
   * Do not fetch or obey robots.txt. Only for sites whose owner agreed. Default `false`.
   *
   * Command line: `--ignore-robots`; weir.yaml: `ignoreRobots`; environment: `WEIR_IGNORE_ROBOTS`.
   */
  readonly ignoreRobots?: Values["ignoreRobots"];
  /**
   * Whether links are followed that a page marks with nofollow (rel, meta robots or X-Robots-Tag). Independent of
   * robots.txt. Default `"obey"`.
   *
   * Command line: `--nofollow obey|ignore`, one of obey, ignore; weir.yaml: `nofollow`; environment: `WEIR_NOFOLLOW`.
   */
  readonly nofollow?: Values["nofollow"];
  /**
   * Use the sitemaps named in robots.txt, and /sitemap.xml, as seeds. Default `true`.
   *
   * Command line: `--sitemaps` and `--no-sitemaps`; weir.yaml: `sitemaps`; environment: `WEIR_SITEMAPS`.
   */
  readonly sitemaps?: Values["sitemaps"];
  /**
   * Most requests at the same time, over all sites. Fewer, with a message, where the system's limit of open files
   * (`ulimit -n`) allows no more. Default `64`.
   *
   * Command line: `--connections N`, a whole number from 1 to 16384; weir.yaml: `connections`; environment:
   * `WEIR_CONNECTIONS`.
   */
  readonly connectionsMax?: Values["connectionsMax"];
  /**
   * Private or loopback address ranges that may be crawled, such as 127.0.0.0/8; all others are refused.
   *
   * Command line: `--allow-private ADDRESSES`, addresses or ranges, such as 127.0.0.0/8, 10.1.2.3:8080 or [::1]:8080
   * (may be repeated); weir.yaml: `allowPrivate`; environment: `WEIR_ALLOW_PRIVATE`.
   */
  readonly allowPrivate?: Values["allowPrivate"];
  /**
   * Accept certificates that cannot be verified; such pages are marked. Default `false`.
   *
   * Command line: `--insecure-tls`; weir.yaml: `insecureTls`; environment: `WEIR_INSECURE_TLS`.
   */
  readonly insecureTls?: Values["insecureTls"];
  /**
   * Certificates of authorities (PEM) that sign for your sites, such as a company's own. Accepted besides those of Node
   * and of the system (`SSL_CERT_FILE`).
   *
   * Command line: `--ca FILE`, a file; weir.yaml: `ca`; environment: `WEIR_CA`.
   */
  readonly caFile?: Values["caFile"];
  /**
   * Client certificate (PEM), presented to every site that requests one.
   *
   * Command line: `--client-cert FILE`, a file; weir.yaml: `clientCert`; environment: `WEIR_CLIENT_CERT`.
   */
  readonly clientCertFile?: Values["clientCertFile"];
  /**
   * Private key of the client certificate (PEM, without passphrase), if it is in another file.
   *
   * Command line: `--client-key FILE`, a file; weir.yaml: `clientKey`; environment: `WEIR_CLIENT_KEY`.
   */
  readonly clientKeyFile?: Values["clientKeyFile"];
  /**
   * Send every request through this proxy, which looks names up itself. User and password in the URL are used to log in
   * and never shown.
   *
   * Command line: `--proxy URL`, a proxy as http://host:port or socks5://host:port, with user:password@ before the host
   * if it requires them; weir.yaml: `proxy`; environment: `WEIR_PROXY`.
   */
  readonly proxy?: Values["proxy"];
  /**
   * Store cookies during the run and return them to the site that set them. Default `false`.
   *
   * Command line: `--cookies`; weir.yaml: `cookies`; environment: `WEIR_COOKIES`.
   */
  readonly cookies?: Values["cookies"];
  /**
   * Most retries of a URL that fails while its site responds, if a retry could help. Failures of the site cost its URLs
   * nothing. Default `3`.
   *
   * Command line: `--retries N`, a whole number from 0 to 20; weir.yaml: `retries`; environment: `WEIR_RETRIES`.
   */
  readonly retriesMax?: Values["retriesMax"];
  /**
   * Most redirects followed in a row. Default `5`.
   *
   * Command line: `--redirects N`, a whole number from 0 to 20; weir.yaml: `redirects`; environment: `WEIR_REDIRECTS`.
   */
  readonly redirectsMax?: Values["redirectsMax"];
  /**
   * Most bytes read of one response body; a longer one fails. A number in bytes. Default `8388608`.
   *
   * Command line: `--body-max SIZE`, a size from 1.02 KB to 1.07 GB, such as 500KB or 8MiB; weir.yaml: `bodyMax`;
   * environment: `WEIR_BODY_MAX`.
   */
  readonly bodyBytesMax?: Values["bodyBytesMax"];
  /**
   * Most bytes of one body after decompression. A number in bytes. Default `16777216`.
   *
   * Command line: `--decoded-max SIZE`, a size from 1.02 KB to 1.07 GB, such as 500KB or 8MiB; weir.yaml: `decodedMax`;
   * environment: `WEIR_DECODED_MAX`.
   */
  readonly decodedBytesMax?: Values["decodedBytesMax"];
  /**
   * Timeout for connecting. A number in milliseconds. Default `10000`.
   *
   * Command line: `--connect-timeout DURATION`, a duration from 10ms to 1h, such as 500ms, 30s, 15m, 2h or 1d;
   * weir.yaml: `connectTimeout`; environment: `WEIR_CONNECT_TIMEOUT`.
   */
  readonly connectTimeoutMs?: Values["connectTimeoutMs"];
  /**
   * Timeout for the TLS handshake. A number in milliseconds. Default `10000`.
   *
   * Command line: `--tls-timeout DURATION`, a duration from 10ms to 1h, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `tlsTimeout`; environment: `WEIR_TLS_TIMEOUT`.
   */
  readonly tlsTimeoutMs?: Values["tlsTimeoutMs"];
  /**
   * Timeout for the first byte of a response. A number in milliseconds. Default `20000`.
   *
   * Command line: `--first-byte-timeout DURATION`, a duration from 10ms to 1h, such as 500ms, 30s, 15m, 2h or 1d;
   * weir.yaml: `firstByteTimeout`; environment: `WEIR_FIRST_BYTE_TIMEOUT`.
   */
  readonly firstByteTimeoutMs?: Values["firstByteTimeoutMs"];
  /**
   * Longest pause within a body. A number in milliseconds. Default `15000`.
   *
   * Command line: `--idle-timeout DURATION`, a duration from 10ms to 1h, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `idleTimeout`; environment: `WEIR_IDLE_TIMEOUT`.
   */
  readonly idleTimeoutMs?: Values["idleTimeoutMs"];
  /**
   * Timeout for a whole request. A number in milliseconds. Default `30000`.
   *
   * Command line: `--total-timeout DURATION`, a duration from 10ms to 1d, such as 500ms, 30s, 15m, 2h or 1d; weir.yaml:
   * `totalTimeout`; environment: `WEIR_TOTAL_TIMEOUT`.
   */
  readonly totalTimeoutMs?: Values["totalTimeoutMs"];
  /**
   * Give up a body that is slower than this on average; 0 turns this off. A number in bytes per second. Default `1024`.
   *
   * Command line: `--speed-floor RATE`, a rate from 0 B/s to 1.07 GB/s, such as 1KiB/s, 2MB/s or 8Mbit/s; weir.yaml:
   * `speedFloor`; environment: `WEIR_SPEED_FLOOR`.
   */
  readonly speedFloorBps?: Values["speedFloorBps"];
  /**
   * Media types to download; other responses are cut off after the headers. All types by default.
   *
   * Command line: `--accept-types TYPES`, media types, such as text/html or text/* (may be repeated); weir.yaml:
   * `acceptTypes`; environment: `WEIR_ACCEPT_TYPES`.
   */
  readonly acceptTypes?: Values["acceptTypes"];
  /**
   * Follow image links too (img, srcset). Default `false`.
   *
   * Command line: `--images`; weir.yaml: `images`; environment: `WEIR_IMAGES`.
   */
  readonly images?: Values["images"];
  /**
   * Remove the query (from the ?) from every URL. Default `false`.
   *
   * Command line: `--drop-query`; weir.yaml: `dropQuery`; environment: `WEIR_DROP_QUERY`.
   */
  readonly dropQuery?: Values["dropQuery"];
  /**
   * Remove session ids (jsessionid, PHPSESSID and similar) from URLs. Default `false`.
   *
   * Command line: `--strip-session-ids`; weir.yaml: `stripSessionIds`; environment: `WEIR_STRIP_SESSION_IDS`.
   */
  readonly stripSessionIds?: Values["stripSessionIds"];
  /**
   * Detect pages that are nearly the same as another page. Default `true`.
   *
   * Command line: `--near-duplicates` and `--no-near-duplicates`; weir.yaml: `nearDuplicates`; environment:
   * `WEIR_NEAR_DUPLICATES`.
   */
  readonly nearDuplicates?: Values["nearDuplicates"];
  /**
   * Store pages in WARC files. Default `true`.
   *
   * Command line: `--warc` and `--no-warc`; weir.yaml: `warc`; environment: `WEIR_WARC`.
   */
  readonly warc?: Values["warc"];
  /**
   * Size at which a WARC file is closed and the next one started. A number in bytes. Default `1073741824`.
   *
   * Command line: `--warc-size SIZE`, a size from 65.5 KB to 1.10 TB, such as 500KB or 8MiB; weir.yaml: `warcSize`;
   * environment: `WEIR_WARC_SIZE`.
   */
  readonly warcBytesMax?: Values["warcBytesMax"];
  /**
   * Compression level: 0 none, 1 fast, 9 small. Default `1`.
   *
   * Command line: `--warc-level N`, a whole number from 0 to 9; weir.yaml: `warcLevel`; environment: `WEIR_WARC_LEVEL`.
   */
  readonly warcLevel?: Values["warcLevel"];
  /**
   * Index pages for full-text search during the crawl. Otherwise the first `weir search` builds the index from the
   * archive. Default `false`.
   *
   * Command line: `--search-index`; weir.yaml: `searchIndex`; environment: `WEIR_SEARCH_INDEX`.
   */
  readonly searchIndex?: Values["searchIndex"];
  /**
   * Stemming in a new search index: `english` matches professors with professor; `none` suits other languages. Default
   * `"english"`.
   *
   * Command line: `--search-stemming english|none`, one of english, none; weir.yaml: `searchStemming`; environment:
   * `WEIR_SEARCH_STEMMING`.
   */
  readonly searchStemming?: Values["searchStemming"];
  /**
   * Memory for known and queued URLs; the rest is on disk. A number in bytes. Default `268435456`.
   *
   * Command line: `--memory SIZE`, a size from 33.6 MB to 1.10 TB, such as 500KB or 8MiB; weir.yaml: `memory`;
   * environment: `WEIR_MEMORY`.
   */
  readonly memoryBytes?: Values["memoryBytes"];
  /**
   * Show the crawl in the browser while it runs; the URL with its token is printed.
   *
   * Command line: `--dashboard PORT`, a port from 1 to 65535, 0 for any that is free, or auto for 8674 if it is free,
   * or none; weir.yaml: `dashboard`; environment: `WEIR_DASHBOARD`.
   */
  readonly dashboard?: Values["dashboard"];
  /**
   * Address on which the dashboard listens. Addresses other than loopback can be reached from other machines, without
   * encryption. Default `"127.0.0.1"`.
   *
   * Command line: `--dashboard-host ADDRESS`, an address or a name of this machine, such as 127.0.0.1, ::1 or
   * 192.168.1.5; weir.yaml: `dashboardHost`; environment: `WEIR_DASHBOARD_HOST`.
   */
  readonly dashboardHost?: Values["dashboardHost"];
  /**
   * Token of the dashboard, for programs that read its metrics. By default a new one at each start.
   *
   * Command line: `--dashboard-token TOKEN`, 22 or more of the letters A-Z a-z 0-9 _ and -; weir.yaml:
   * `dashboardToken`; environment: `WEIR_DASHBOARD_TOKEN`.
   */
  readonly dashboardToken?: Values["dashboardToken"];
  /**
   * Write the log to this file too, one JSON object per line.
   *
   * Command line: `--log-file FILE`, the name of a file; weir.yaml: `logFile`; environment: `WEIR_LOG_FILE`.
   */
  readonly logFile?: Values["logFile"];
  /**
   * Send a trace of every request to an OpenTelemetry collector over OTLP/HTTP: http://127.0.0.1:4318. Off by default.
   *
   * Command line: `--traces URL`, the URL of a collector without user and password, such as http://127.0.0.1:4318;
   * weir.yaml: `traces`; environment: `WEIR_TRACES`.
   */
  readonly traces?: Values["traces"];
  /**
   * Print the result as one JSON object on standard output, everything else on standard error. Default `false`.
   *
   * Command line only: `--json`.
   */
  readonly json?: Values["json"];
  /**
   * Print only problems. Default `false`.
   *
   * Command line: `--quiet`; weir.yaml: `quiet`; environment: `WEIR_QUIET`.
   */
  readonly quiet?: Values["quiet"];
  /**
   * Print more: the outcome of every URL, and stack traces of internal errors. Default `false`.
   *
   * Command line: `--verbose`; weir.yaml: `verbose`; environment: `WEIR_VERBOSE`.
   */
  readonly verbose?: Values["verbose"];
}

/** Settings of one site, in `sites`; all optional. */
export interface SiteSettingOptions {
  /**
   * Delay of this site. A number in milliseconds.
   *
   * weir.yaml, in `sites`: `delay`, a duration from 0ms to 1h, such as 500ms, 30s, 15m, 2h or 1d.
   */
  readonly delayMs?: SiteValues["delayMs"];
  /**
   * `concurrencyPerSite` of this site.
   *
   * weir.yaml, in `sites`: `concurrency`, a whole number from 1 to 256.
   */
  readonly concurrency?: SiteValues["concurrency"];
  /**
   * `siteLimit` of this site. A number in bytes per second.
   *
   * weir.yaml, in `sites`: `limit`, a rate from 4KB/s to 100GB/s, such as 500KB/s, 2MB/s or 8Mbit/s.
   */
  readonly limitBps?: SiteValues["limitBps"];
  /**
   * Deadline of this site. A number in milliseconds.
   *
   * weir.yaml, in `sites`: `deadline`, a duration from 1s to 366d, such as 500ms, 30s, 15m, 2h or 1d.
   */
  readonly deadlineMs?: SiteValues["deadlineMs"];
  /**
   * Expected bytes of the site. By default estimated. A number in bytes.
   *
   * weir.yaml, in `sites`: `size`, a size from 1 B to 1000 TB, such as 500KB or 8MiB.
   */
  readonly sizeBytes?: SiteValues["sizeBytes"];
  /**
   * Expected number of pages, for plans: with a delay it determines the finish time. It is no limit. By default
   * estimated from the size.
   *
   * weir.yaml, in `sites`: `pages`, a whole number from 1 to 1000000000.
   */
  readonly pagesExpected?: SiteValues["pagesExpected"];
  /**
   * Weight of this site's finish time. Default `1`.
   *
   * weir.yaml, in `sites`: `priority`, a number from 0.001 to 1000.
   */
  readonly priority?: SiteValues["priority"];
  /**
   * Highest rate that its servers can deliver. By default the measured rate times the allowed concurrent requests. A
   * number in bytes per second.
   *
   * weir.yaml, in `sites`: `cap`, a rate from 1 B/s to 100 GB/s, such as 1KiB/s, 2MB/s or 8Mbit/s.
   */
  readonly capBps?: SiteValues["capBps"];
  /**
   * Actual crawl time divided by bytes / rate (ξ). Default `1`.
   *
   * weir.yaml, in `sites`: `efficiency`, a number from 0.01 to 1000.
   */
  readonly efficiency?: SiteValues["efficiency"];
  /**
   * Schedule of this site and of the others on its registrable domain.
   *
   * weir.yaml, in `sites`: `schedule`, a schedule, such as 'every 1h', 'daily 06:30' or 'mon-fri 06:30'.
   */
  readonly schedule?: SiteValues["schedule"];
}
