import { fetch as undiciFetch } from 'undici';
import type { CatalogSnapshot, FollowedCatalog } from '../domain/catalog/catalog.ts';
import type { Clock } from '../domain/clock.ts';
import { type Download, download, DownloadFailed, type Fetch } from './catalog-download.ts';
import { MapRejected, parsePriceMap } from './catalog-parse.ts';
import { createSnapshot, loadEmbeddedSnapshot, snapshotIdOf } from './catalog-snapshot.ts';
import type { Log } from './log.ts';

/** The live price map, where no other address is configured. */
const UPSTREAM_URL = 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json';

const MOST_DELAY_MS = 15 * 60_000;
const JITTER = 0.1;

export interface CatalogSourceOptions {
  /** An http(s) address, a `file:` address or a path; null for the upstream's own. */
  readonly url: string | null;
  /** Seconds from one look at the source to the next; zero never looks and serves what is built in. */
  readonly refreshSeconds: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Told after every swap to data that differs. What it throws is logged and changes nothing. */
  readonly swapped?: (from: CatalogSnapshot, to: CatalogSnapshot) => void;
  /** By default that of the library the gateway calls with: the built-in one would be loaded a second time. */
  readonly fetch?: Fetch;
  /** From 0 to 1, exclusive; spreads the looks of many processes. */
  readonly random?: () => number;
}

/** The catalog, kept fresh. */
export interface RefreshingCatalog extends FollowedCatalog {
  /** Looks at the source now and then again and again. */
  start(): void;
  /** Ends the looking, a download included. What was loaded stays. */
  stop(): void;
  /** Looks at the source once. Never throws: what came of it is in `status`. */
  refresh(): Promise<void>;
}

/** Milliseconds to the next look: longer with every failure in a row, up to a quarter of an hour. */
export function nextDelayMs(refreshSeconds: number, failures: number, random: number): number {
  const regular = refreshSeconds * 1000;
  const most = Math.max(regular, MOST_DELAY_MS);
  const delay = Math.min(regular * 2 ** Math.min(failures, 30), most);
  return delay * (1 - JITTER + 2 * JITTER * random);
}

/**
 * Serves the built-in catalog at once and follows the source from then on. A state is swapped in whole, after it
 * was checked; whatever goes wrong, the last good one stays.
 */
export function createCatalogSource(options: CatalogSourceOptions): RefreshingCatalog {
  const { refreshSeconds, clock, log, fetch = undiciFetch, random = Math.random } = options;
  const url = options.url ?? UPSTREAM_URL;
  let current: CatalogSnapshot = loadEmbeddedSnapshot();
  let lastCheckedAt: Date | null = null;
  let lastError: string | null = null;
  let failures = 0;
  /** What was read whole last, and why it was not taken if so: what was refused once is not fetched again. */
  let seen: { readonly mark: string | null; readonly fault: string | null } = { mark: null, fault: null };
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;

  function tell(from: CatalogSnapshot, to: CatalogSnapshot): void {
    try {
      options.swapped?.(from, to);
    } catch (error) {
      log.error({ err: error, snapshot: to.id }, 'a follower of the catalog failed');
    }
  }

  /** Swaps in what was read, or says why not. */
  async function take({ bytes, source }: Download): Promise<string | null> {
    try {
      const { sha256, entries } = await parsePriceMap(bytes, current.entries.length);
      const id = snapshotIdOf(sha256);
      if (id === current.id && source === current.source) return null;
      const from = current;
      current = createSnapshot({ id, takenAt: clock.now(), source, entries });
      log.info({ source, entries: entries.length, snapshot: id }, 'catalog refreshed');
      if (id !== from.id) tell(from, current);
      return null;
    } catch (error) {
      if (error instanceof MapRejected) return error.message;
      throw error;
    }
  }

  function failed(reason: string, error: unknown): void {
    lastError = reason;
    failures += 1;
    const facts = {
      reason,
      serving: current.source,
      takenAt: current.takenAt,
      ...(error === null ? {} : { err: error }),
    };
    // Without a network every look fails: saying so once is enough.
    if (failures === 1) log.warn(facts, 'catalog not refreshed; the last good one stays');
    else log.debug(facts, 'catalog not refreshed');
  }

  async function look({ signal }: AbortController): Promise<void> {
    try {
      const read = await download(url, seen.mark, { fetch, signal });
      if (read !== null) seen = { mark: read.mark, fault: await take(read) };
      if (seen.fault !== null) failed(seen.fault, null);
      else {
        lastError = null;
        failures = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof DownloadFailed) failed(error.message, null);
      else failed('the price map could not be read', error);
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
        if (!signal.aborted) schedule(nextDelayMs(refreshSeconds, failures, random()));
      });
    }, delayMs);
    timer.unref();
  }

  return {
    current: () => current,
    status: () => ({
      source: current.source,
      takenAt: current.takenAt,
      count: current.entries.length,
      lastCheckedAt,
      lastError,
    }),
    refresh,
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
