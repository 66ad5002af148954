import { fetch as undiciFetch } from 'undici';
import type { CatalogSnapshot, FollowedCatalog, LookOutcome } from '../domain/catalog/catalog.ts';
import type { HeldPrice } from '../domain/catalog/quarantine.ts';
import type { ReleaseStore } from '../domain/catalog/releases.ts';
import type { Clock } from '../domain/clock.ts';
import { type Download, download, DownloadFailed, type Fetch } from './catalog-download.ts';
import { createKeptStates } from './catalog-kept.ts';
import { LastGoodUnfit, loadLastGood, saveLastGood } from './catalog-last-good.ts';
import { MapRejected, type ParsedMap, parsePriceMap } from './catalog-parse.ts';
import { createKnownReleases } from './catalog-releases.ts';
import { embeddedTakenAt, loadEmbeddedMap } from './catalog-snapshot.ts';
import { type CatalogState, type IsReleased, judgedAnew, stateBuilder } from './catalog-state.ts';
import type { Log } from './log.ts';

/** The live price map, where no other address is configured. */
const UPSTREAM_URL = 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json';

const MOST_DELAY_MS = 15 * 60_000;
const JITTER = 0.1;
const TIMEOUT_MS = 30_000;

export interface CatalogSourceOptions {
  /** An http(s) address, a `file:` address or a path; null for the upstream's own. */
  readonly url: string | null;
  /** Seconds from one look at the source to the next; zero never looks and serves what is built in. */
  readonly refreshSeconds: number;
  readonly clock: Clock;
  readonly log: Log;
  /** File in which the last good map survives a restart; none where it is absent. */
  readonly lastGoodFile?: string;
  /** Where releases of held prices are kept; by default nowhere. */
  readonly releases?: ReleaseStore;
  /** Told after every swap to data that differs. What it throws is logged and changes nothing. */
  readonly swapped?: (from: CatalogSnapshot, to: CatalogSnapshot) => void;
  /** By default that of the library the gateway calls with: the built-in one would be loaded a second time. */
  readonly fetch?: Fetch;
  /** Longest a download may take. */
  readonly timeoutMs?: number;
  /** From 0 to 1, exclusive; spreads the looks of many processes. */
  readonly random?: () => number;
}

/** The catalog, kept fresh. */
export interface RefreshingCatalog extends FollowedCatalog {
  /** Takes up where an earlier process ended: its last good map, and what admins have released. Never throws. */
  restore(): Promise<void>;
  /** Looks at the source now and then again and again. */
  start(): void;
  /** Ends the looking, a download included. What was loaded stays. */
  stop(): void;
  /** Looks at the source once. Never throws: what came of it is in `status`. */
  refresh(): Promise<void>;
}

/** How the last looks went, for the time of the next. */
export interface LookHistory {
  readonly refreshSeconds: number;
  /** Failures in a row. */
  readonly failures: number;
  /** How long the source has asked to be left alone; zero when it has not. */
  readonly askedMs: number;
}

/** Milliseconds to the next look: longer with every failure in a row, and never sooner than the source asked for. */
export function nextDelayMs({ refreshSeconds, failures, askedMs }: LookHistory, random: number): number {
  const regular = refreshSeconds * 1000;
  const most = Math.max(regular, MOST_DELAY_MS);
  const delay = Math.min(regular * 2 ** Math.min(failures, 30), most);
  return Math.max(delay * (1 - JITTER + 2 * JITTER * random), askedMs);
}

/** Runs what it is given one after another, whatever becomes of each. */
function inTurn(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work);
    last = run.catch(() => {});
    return run;
  };
}

function embeddedState(isReleased: IsReleased): CatalogState {
  const { models, sha256, takenAt } = loadEmbeddedMap();
  const builder = stateBuilder(null, isReleased, takenAt);
  for (const model of models) builder.add(model);
  return builder.build({ sha256, takenAt, source: 'embedded' });
}

/**
 * Serves the last good catalog, else the built-in one, at once and follows the source from then on. A state is
 * swapped in whole, after it was checked and its unit mistakes kept out; whatever goes wrong, the last good one stays.
 */
export function createCatalogSource(options: CatalogSourceOptions): RefreshingCatalog {
  const { refreshSeconds, clock, log, lastGoodFile } = options;
  const { fetch = undiciFetch, random = Math.random, timeoutMs = TIMEOUT_MS } = options;
  const url = options.url ?? UPSTREAM_URL;
  const releases = createKnownReleases(options.releases);
  const { isReleased } = releases;
  let state: CatalogState | null = null;
  const now = (): CatalogState => (state ??= embeddedState(isReleased));
  const current = (): CatalogSnapshot => now().snapshot;
  const kept = createKeptStates(clock);
  const alone = inTurn();
  const looks: Record<LookOutcome, number> = { taken: 0, unchanged: 0, refused: 0, failed: 0 };
  let lastCheckedAt: Date | null = null;
  let lastError: string | null = null;
  let failures = 0;
  let askedMs = 0;
  /** What was read whole last, and why it was not taken if so: what was refused once is not fetched again. */
  let seen: { readonly mark: string | null; readonly fault: string | null } = { mark: null, fault: null };
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;

  function adopt(next: CatalogState): void {
    const from = current();
    state = next;
    const to = next.snapshot;
    if (to === from) return;
    const { source, entries, id } = to;
    log.info({ source, entries: entries.length, snapshot: id, held: heldOf(next).length }, 'catalog refreshed');
    if (id === from.id) return;
    kept.keep(from, to);
    try {
      options.swapped?.(from, to);
    } catch (error) {
      log.error({ err: error, snapshot: id }, 'a follower of the catalog failed');
    }
  }

  /** Learns what admins have released, here or through another process. */
  async function learnReleases(): Promise<void> {
    await releases.learn();
    if (state !== null) adopt(judgedAnew(state, isReleased));
  }

  /** A field of the price map as it is there, held or not. */
  const valueNow = (entryId: string, field: string): unknown =>
    (now().held.get(entryId)?.raw ?? current().find(entryId)?.row)?.[field];

  /** Swaps in what was read, or says why not. */
  async function take({ bytes, source, mark }: Download): Promise<string | null> {
    try {
      const currentCount = current().entries.length;
      const map = await parsePriceMap(bytes, { currentCount, packed: lastGoodFile !== undefined });
      const builder = stateBuilder(now(), isReleased, clock.now());
      await map.eachModel(builder.add);
      adopt(builder.build({ sha256: map.sha256, takenAt: clock.now(), source }));
      await keepLastGood(map, mark);
    } catch (error) {
      if (error instanceof MapRejected) return error.message;
      throw error;
    }
    await releases.forgetOvertaken(valueNow).catch((error: unknown) => {
      log.warn({ err: error }, 'releases that the price map has overtaken could not be forgotten');
    });
    return null;
  }

  async function keepLastGood({ packed, sha256 }: ParsedMap, mark: string | null): Promise<void> {
    const facts = `${sha256} ${mark}`;
    if (lastGoodFile === undefined || packed === null || facts === keptFacts) return;
    try {
      await saveLastGood(lastGoodFile, { state: now(), packed, url, mark });
      keptFacts = facts;
    } catch (error) {
      log.warn({ err: error }, 'the last good price map could not be kept for a restart');
    }
  }
  let keptFacts = '';

  function failed(reason: string, error: unknown): void {
    lastError = reason;
    failures += 1;
    const { source, takenAt } = current();
    const facts = { reason, serving: source, takenAt, ...(error === null ? {} : { err: error }) };
    // Without a network every look fails: saying so once is enough.
    if (failures === 1) log.warn(facts, 'catalog not refreshed; the last good one stays');
    else log.debug(facts, 'catalog not refreshed');
  }

  /** Reads the source, and gives what came of it. */
  async function read(signal: AbortSignal): Promise<LookOutcome> {
    const found = await download(url, seen.mark, { fetch, signal, timeoutMs });
    if (found !== null) seen = { mark: found.mark, fault: await alone(() => take(found)) };
    if (seen.fault === null) return found === null ? 'unchanged' : 'taken';
    failed(seen.fault, null);
    return 'refused';
  }

  async function look({ signal }: AbortController): Promise<void> {
    askedMs = 0;
    await alone(learnReleases).catch((error: unknown) => {
      log.debug({ err: error }, 'releases of held prices could not be read; those known stay');
    });
    try {
      const outcome = await read(signal);
      looks[outcome] += 1;
      if (outcome === 'taken' || outcome === 'unchanged') {
        lastError = null;
        failures = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      looks.failed += 1;
      if (error instanceof DownloadFailed) {
        askedMs = error.askedMs;
        failed(error.message, null);
      } else failed('the price map could not be read', error);
    }
    lastCheckedAt = clock.now();
  }

  const refresh = (): Promise<void> =>
    (looking ??= look(stopping).finally(() => {
      looking = null;
    }));

  function schedule(delayMs: number): void {
    const { signal } = stopping;
    timer = setTimeout(() => {
      void refresh().then(() => {
        if (!signal.aborted) schedule(nextDelayMs({ refreshSeconds, failures, askedMs }, random()));
      });
    }, delayMs);
    timer.unref();
  }

  async function loadKept(file: string): Promise<void> {
    try {
      const before = await loadLastGood(file, { url, notBefore: embeddedTakenAt(), isReleased });
      if (before === null) return;
      state = before.state;
      seen = { mark: before.mark, fault: null };
    } catch (error) {
      const reason = error instanceof LastGoodUnfit ? error.message : 'it is damaged';
      log.warn({ reason, file }, 'the price map kept from before is not used');
    }
  }

  return {
    current,
    at: (id) => (current().id === id ? current() : kept.find(id)),
    held: () => heldOf(now()),
    release: (holdId, releasedBy) =>
      alone(async () => {
        const hold = heldOf(now()).find(({ id }) => id === holdId);
        if (hold === undefined) return null;
        const { entryId, field, value } = hold;
        await releases.add({ entryId, field, value, releasedAt: clock.now(), releasedBy });
        adopt(judgedAnew(now(), isReleased));
        return hold;
      }),
    status: () => ({
      source: current().source,
      takenAt: current().takenAt,
      count: current().entries.length,
      lastCheckedAt,
      lastError,
      held: heldOf(now()).length,
      looks: { ...looks },
    }),
    refresh,
    async restore() {
      await learnReleases().catch((error: unknown) => {
        log.warn({ err: error }, 'releases of held prices could not be read');
      });
      if (lastGoodFile !== undefined && refreshSeconds > 0) await loadKept(lastGoodFile);
    },
    start() {
      if (refreshSeconds === 0 || timer !== undefined) return;
      stopping = new AbortController();
      schedule(0);
    },
    stop() {
      stopping.abort();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function heldOf({ held }: CatalogState): readonly HeldPrice[] {
  return [...held.values()].flatMap(({ holds }) => holds);
}
