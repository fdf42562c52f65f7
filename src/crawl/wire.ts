/** Puts the loops of one crawl together; each gets only the parts it needs. */

import type { Controller } from "../bandwidth/controller.ts";
import { Blame } from "../frontier/blame.ts";
import { Courtesy } from "../frontier/politeness.ts";
import { SCORES } from "../frontier/priority.ts";
import { Sieve } from "../frontier/sieve.ts";
import { Traps } from "../frontier/traps.ts";
import { Workbench } from "../frontier/workbench.ts";
import { Shares } from "../plan/promise/fair-queue.ts";
import { HostShare } from "../topics/host-share.ts";
import { NearIndex } from "../page/near-index.ts";
import { Scope } from "../url/scope.ts";
import { domainOf } from "../url/site.ts";
import { type CanonicalUrl, isSpellingOf } from "../url/url.ts";
import {
  controllerFor,
  courtesyLimits,
  entriesIn,
  NEAR,
  RANKS_SHARE,
  SIEVE,
  SITES,
  trapLimits,
  WAITING,
} from "./limit/allotments.ts";
import type { CrawlParts } from "./crawl.ts";
import { Errands, settingsBySite } from "./site-setup.ts";
import { FetchLoop, type FetchLoopParts } from "./fetch-loop.ts";
import { Border } from "./peers/route-links.ts";
import { candidateOf, Intake } from "./admit.ts";
import type { Job } from "./job.ts";
import type { Loops, Surroundings } from "./loops.ts";
import { Line } from "./limit/link-budget.ts";
import { Batch } from "./batch.ts";
import { type Ordering, orderingFor } from "./ordering.ts";
import { Pace } from "./pace.ts";
import { Patience } from "./patience.ts";
import { type ReadingRoom, readingRoomOf } from "./reading-room.ts";
import { Refill } from "./queue.ts";
import { Outlook } from "./deadlines/estimate-sites.ts";
import { Promised } from "./deadlines/deadlines.ts";
import { Replan } from "./deadlines/replan.ts";
import { Reunion } from "./peers/merge-url.ts";
import { Roster } from "./sites.ts";
import { Rounds } from "./recrawl/recrawls.ts";
import { Settler } from "./end-url.ts";
import { Sluice } from "./limit/limiter.ts";
import { Tally } from "./counters.ts";
import { type Team, teamOf } from "./peers/peer.ts";
import { focusFor } from "./topics/setup.ts";
import type { TopicWatch } from "./topics/counts.ts";
import { Unreachable } from "./unreachable.ts";

/** Breadth first they keep their order however long they wait; other scores change meanwhile. */
const URLS_PER_SITE = { settled: 256, changing: 32 };
export function assemble(parts: CrawlParts, around: Surroundings): Loops {
  return new Assembly(parts, around);
}

class Assembly implements Loops {
  readonly tally: Tally;
  readonly pace = new Pace();
  readonly courtesy: Courtesy;
  readonly workbench: Workbench<Job>;
  readonly roster: Roster;
  readonly batch: Batch;
  readonly settler: Settler;
  readonly refill: Refill;
  readonly unreachable: Unreachable;
  readonly patience: Patience;
  readonly fetchLoop: FetchLoop;
  readonly controller: Controller;
  readonly sluice: Sluice;
  readonly line: Line;
  readonly promised: Promised;
  readonly replan: Replan;
  readonly rounds: Rounds;
  readonly team: Team | undefined;
  readonly ordering: Ordering | undefined;
  readonly #shares = new Shares();
  readonly #blame = new Blame();
  readonly #parts: CrawlParts;
  readonly #around: Surroundings;
  readonly #traps: Traps;
  readonly #sieve: Sieve;
  readonly #scope: Scope;
  readonly #border: Border | undefined;
  readonly #intake: Intake;
  readonly #errands: Errands;
  readonly #reunion: Reunion;
  readonly #room: ReadingRoom;

  constructor(parts: CrawlParts, around: Surroundings) {
    this.#parts = parts;
    this.#around = around;
    const { settings, store, seeds } = parts;
    this.tally = new Tally(store.totals);
    this.courtesy = new Courtesy(courtesyLimits(settings), parts.team?.turns);
    this.workbench = new Workbench<Job>(this.courtesy);
    this.#traps = new Traps(trapLimits(settings));
    this.#sieve = new Sieve(entriesIn(settings, SIEVE));
    this.#scope = new Scope({
      kind: settings.scope,
      seeds,
      include: settings.include,
      exclude: settings.exclude,
    });
    this.#extendScope();
    for (const seed of seeds) this.#traps.trust(domainOf(seed));
    this.roster = new Roster(store, this.#traps, entriesIn(settings, SITES), parts.clock);
    this.batch = this.#makeBatch();
    this.settler = this.#makeSettler();
    this.refill = this.#makeRefill();
    const { courtesy, refill } = this;
    this.unreachable = new Unreachable({ ...this.#common(), courtesy, refill });
    this.#border = this.#makeBorder();
    this.#reunion = this.#makeReunion();
    this.#intake = this.#makeIntake();
    this.ordering = this.#makeOrdering();
    this.#errands = this.#makeErrands();
    this.#room = this.#makeRoom();
    this.controller = controllerFor(settings, parts.clock.nowMs());
    this.sluice = this.#makeSluice();
    this.line = this.#makeLine();
    this.promised = new Promised({ ...this.#common(), beganAtMs: around.beganAtMs });
    const { promised, unreachable } = this;
    this.patience = new Patience({ ...this.#common(), promised, unreachable });
    this.replan = this.#makeReplan();
    this.fetchLoop = this.#makeFetchLoop();
    this.rounds = this.#makeRounds();
    this.team = this.#makeTeam();
  }

  /** Takes into the scope where seeds had moved to in earlier runs. */
  #extendScope(): void {
    const { store, team } = this.#parts;
    for (const url of store.seedTargets()) this.#scope.extend(url as CanonicalUrl);
    // Of several processes one may know only links that others found there.
    if (team?.border === undefined) return;
    for (const { key, known } of store.sites())
      if (known > 0) this.#scope.extend(`${key}/` as CanonicalUrl);
  }

  admitSeeds(): void {
    this.#admitAt(0, this.#parts.team?.seeds ?? this.#parts.seeds);
    this.#admitAt(1, this.#parts.team?.border?.popularUrls ?? []);
  }

  #admitAt(depth: number, urls: readonly CanonicalUrl[]): void {
    const none = { from: undefined, fromDomain: undefined, redirectedFromId: 0, redirects: 0 };
    for (const url of urls) {
      // Everybody has all of them, so nobody has to send any.
      if (this.#border?.isOwn(url) === false) continue;
      const spelling = this.#parts.spellings?.[url];
      // In a cluster it comes from the registry.
      const written = spelling !== undefined && isSpellingOf(spelling, url) ? spelling : undefined;
      this.#intake.admit([candidateOf({ url, written })], { ...none, depth });
    }
  }

  setDelay(delayMs: number): void {
    this.#errands.setDelay(delayMs);
  }

  get topicWatch(): TopicWatch | undefined {
    return this.#room.topicWatch;
  }

  errandsUnderWay(): number {
    return this.#errands.underWay;
  }

  #makeBatch(): Batch {
    const { clock, store, output, index } = this.#parts;
    return new Batch({
      clock,
      store,
      roster: this.roster,
      tally: this.tally,
      marks: () => output?.marks() ?? {},
      beforeCommit: () => this.#border?.beforeCommit(),
      onCommit: () => {
        this.#border?.committed();
        index?.committed(store.lastPageSeq);
        this.refill.afterCommit();
        this.fetchLoop.pump();
      },
      onTrouble: this.#around.onTrouble,
      onFault: this.#around.onFault,
    });
  }

  #makeSettler(): Settler {
    const { clock, log } = this.#parts;
    return new Settler({
      ...this.#common(),
      onSiteDone: () => this.replan.soon(),
      onSettled: (url, reason, detail) => {
        this.pace.count(clock.nowMs());
        this.patience.renew();
        if (reason === "ok") this.#border?.countPage();
        log.write({ level: "debug", message: "settled", values: { url, reason, detail } });
      },
    });
  }

  #makeRefill(): Refill {
    const { settings, hooks } = this.#parts;
    return new Refill({
      ...this.#common(),
      settler: this.settler,
      limits: {
        perSiteMax:
          settings.order === "breadth" && hooks.score === undefined
            ? URLS_PER_SITE.settled
            : URLS_PER_SITE.changing,
        entriesMax: entriesIn(settings, WAITING),
        sitesAwakeMax: Math.ceil(entriesIn(settings, SITES) / 2),
        bestSitesFirst: settings.order === "topic" && hooks.score === undefined,
      },
      prepare: (site) => this.#errands.prepare(site),
      isUnderWay: (urlId) => this.#isUnderWay(urlId),
      mayAsk: (site) => !this.rounds.isToBegin(site) && (this.team?.mayAsk(site) ?? true),
      isAway: (site) => this.unreachable.isAway(site.key),
      onDoubt: (site) => this.#errands.check(site),
      mayFetch: (url) => this.#border?.hasArrived(url) ?? true,
      onWaiting: (site) => this.team?.onWaiting(site),
      shared: (site, to) => this.team?.shared(site, to) ?? to,
    });
  }

  #makeBorder(): Border | undefined {
    const means = this.#parts.team?.border;
    if (means === undefined) return undefined;
    return new Border({
      ...this.#common(),
      ...means,
      countsBacklinks: this.#countsBacklinks,
      isIdle: () => this.fetchLoop.isQuiet,
      admit: (found, border) => this.#intake.receive(found, border),
      admitPage: (letter, from, taken) => this.#room.customs.takeIn(letter, from, taken),
      // Processes of one machine talk without the line.
      onBytes:
        this.#parts.settings.natsServers.length > 0 ? (n) => this.line.exchanged(n) : undefined,
      onFault: this.#around.onFault,
    });
  }

  #makeTeam(): Team | undefined {
    const { team } = this.#parts;
    if (team === undefined) return undefined;
    return teamOf(team, {
      ...this.#common(),
      ...this.#around,
      refill: this.refill,
      settler: this.settler,
      border: this.#border,
      isUnderWay: (urlId) => this.#isUnderWay(urlId),
      reopen: (row) => this.#reunion.reopen(row),
      admitSeeds: () => this.admitSeeds(),
      pump: () => this.fetchLoop.pump(),
    });
  }

  get #countsBacklinks(): boolean {
    const { settings, hooks } = this.#parts;
    return settings.order === "backlinks" && hooks.score === undefined;
  }

  #makeIntake(): Intake {
    const { settings, hooks } = this.#parts;
    return new Intake({
      ...this.#common(),
      refill: this.refill,
      sieve: this.#sieve,
      traps: this.#traps,
      scope: this.#scope,
      score:
        hooks.score ?? ((found) => this.ordering?.scoreOf(found) ?? SCORES[settings.order](found)),
      countsBacklinks: this.#countsBacklinks,
      border: this.#border,
      reunion: this.#reunion,
      depthMax: settings.depthMax ?? Infinity,
      onLink: hooks.onLink,
    });
  }

  #makeOrdering(): Ordering | undefined {
    const { settings, hooks } = this.#parts;
    if (hooks.score !== undefined) return undefined;
    return orderingFor(settings.order, {
      ...this.#common(),
      ...this.#around,
      intake: this.#intake,
      border: this.#border,
      focus: focusFor(settings, this.#parts.topics?.classifier),
      rankBytesMax: settings.memoryBytes * RANKS_SHARE,
    });
  }

  #makeErrands(): Errands {
    return new Errands({
      ...this.#common(),
      ...this.#around,
      courtesy: this.courtesy,
      refill: this.refill,
      blame: this.#blame,
      onStartFailed: (site, reason, detail) => this.unreachable.startFailed(site, reason, detail),
      onBlamed: (site, urlIds) => this.#room.recorder.charge(site, urlIds),
      intake: this.#intake,
      scope: this.#scope,
      isInherited: (site) => this.team?.isInherited(site) ?? false,
      pump: () => this.fetchLoop.pump(),
    });
  }

  #makeReunion(): Reunion {
    const countsBacklinks = this.#countsBacklinks;
    const { refill, settler } = this;
    const isUnderWay = (urlId: number): boolean => this.#isUnderWay(urlId);
    return new Reunion({ ...this.#common(), refill, settler, countsBacklinks, isUnderWay });
  }

  #makeRoom(): ReadingRoom {
    const { settings } = this.#parts;
    return readingRoomOf({
      ...this.#common(),
      ...this.#around,
      intake: this.#intake,
      scope: this.#scope,
      sieve: this.#sieve,
      traps: this.#traps,
      settler: this.settler,
      reunion: this.#reunion,
      ordering: this.ordering,
      border: this.#border,
      near: settings.nearDuplicates ? new NearIndex(entriesIn(settings, NEAR)) : undefined,
      blame: this.#blame,
      onDoubt: (site) => this.#errands.check(site),
      onCharged: () => this.patience.renew(),
      isFetching: (urlId) => this.fetchLoop.isUnderWay(urlId),
    });
  }

  /** Being fetched, or being taken in. */
  #isUnderWay(urlId: number): boolean {
    return this.fetchLoop.isUnderWay(urlId) || this.#room.customs.isImporting(urlId);
  }

  #makeSluice(): Sluice {
    const { clock, settings, line } = this.#parts;
    const ownSettings = settingsBySite(settings.sites);
    return new Sluice({
      ...this.#common(),
      controller: this.controller,
      speeds: line.speeds,
      moment: () => line.almanac.at(clock.wallMs()),
      siteLimitBps: ({ key }) =>
        this.line.sitePayloadBps(ownSettings.get(key)?.limitBps ?? this.line.siteLimitBps),
      searchDepthMax: settings.searchDepthMax,
      ranksByScore: settings.order === "topic" && this.#parts.hooks.score === undefined,
      hostShare:
        settings.hostShareMax === undefined ? undefined : new HostShare(settings.hostShareMax),
      shares: this.#shares,
      onBytes: (bytes) => this.line.received(bytes),
      onTraffic: (traffic, address) => this.line.watch(traffic, address),
      onTried: () => this.replan.soon(),
      pump: () => this.fetchLoop.pump(),
    });
  }

  #makeLine(): Line {
    const { line } = this.#parts;
    const { controller, sluice } = this;
    const requests = (): number => this.fetchLoop.requests;
    return new Line({ ...this.#common(), ...this.#around, ...line, controller, sluice, requests });
  }

  #makeReplan(): Replan {
    const { clock, line } = this.#parts;
    const { promised } = this;
    const outlook = new Outlook({
      ...this.#common(),
      promised,
      line: this.line,
      speeds: line.speeds,
      moment: () => line.almanac.at(clock.wallMs()),
    });
    return new Replan({
      ...this.#common(),
      promised,
      outlook,
      shares: this.#shares,
      sluice: this.sluice,
      isPart: this.#parts.team !== undefined,
      onFault: this.#around.onFault,
    });
  }

  #makeRounds(): Rounds {
    const { zone } = this.#parts.line;
    const pump = (): void => this.fetchLoop.pump();
    return new Rounds({ ...this.#common(), ...this.#around, refill: this.refill, zone, pump });
  }

  #makeFetchLoop(): FetchLoop {
    const parts = {
      ...this.#common(),
      ...this.#around,
      refill: this.refill,
      sluice: this.sluice,
      fetchUrl: ((site, row, progress) => {
        this.#errands.refreshIfOld(site);
        return this.#room.recorder.fetchUrl(site, row, progress);
      }) satisfies FetchLoopParts["fetchUrl"],
      runErrand: ((site, errand, progress) =>
        this.#errands.run(site, errand, progress)) satisfies FetchLoopParts["runErrand"],
      onEnded: ((site, reason) =>
        this.unreachable.ended(site, reason)) satisfies FetchLoopParts["onEnded"],
    };
    return new FetchLoop(parts, this.#parts.settings.connectionsMax);
  }

  /** What nearly every loop needs: the sockets, the sums, the sites, the notes. */
  #common(): CrawlParts & Pick<Loops, "tally" | "roster" | "batch" | "workbench"> {
    const { tally, roster, batch, workbench } = this;
    return { ...this.#parts, tally, roster, batch, workbench };
  }
}
