import type { FollowedCatalog, LookOutcome } from '../../domain/catalog/catalog.ts';
import { download, DownloadFailed, type Fetch } from './download.ts';
import { type CatalogHolderOptions, createCatalogHolder } from './holder.ts';

/** The live price map, where no other address is configured. */
const UPSTREAM_URL = 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json';

const MOST_DELAY_MS = 15 * 60_000;
const JITTER = 0.1;
const TIMEOUT_MS = 30_000;

export interface CatalogSourceOptions extends Omit<CatalogHolderOptions, 'url'> {
  /** An http(s) address, a `file:` address or a path; null for the upstream's own. */
  readonly url: string | null;
  /** Seconds from one look at the source to the next; zero never looks and serves what is built in. */
  readonly refreshSeconds: number;
  /** By default Node's own, which Node loads when it is first called. */
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

/**
 * Serves the last good catalog, else the built-in one, at once and follows the source from then on. A state is
 * swapped in whole, after it was checked and its unit mistakes kept out; whatever goes wrong, the last good one stays.
 */
export function createCatalogSource(options: CatalogSourceOptions): RefreshingCatalog {
  const {
    refreshSeconds,
    clock,
    log,
    fetch = globalThis.fetch,
    random = Math.random,
    timeoutMs = TIMEOUT_MS,
  } = options;
  const url = options.url ?? UPSTREAM_URL;
  const holder = createCatalogHolder({ ...options, url });
  const { current, at, held, release } = holder;
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

  function taken(outcome: 'taken' | 'unchanged'): void {
    looks[outcome] += 1;
    if (failures > 0) log.info({ after: failures }, 'the source of the catalog is sound again');
    lastError = null;
    failures = 0;
  }

  function notTaken(outcome: 'refused' | 'failed', reason: string, error: unknown = null): void {
    looks[outcome] += 1;
    const isNews = reason !== lastError;
    lastError = reason;
    failures += 1;
    const { source, takenAt } = current();
    const facts = { reason, serving: source, takenAt, ...(error === null ? {} : { err: error }) };
    // Without a network every look fails: saying so once is enough. Another reason is news.
    if (isNews) log.warn(facts, 'catalog not refreshed; the last good one stays');
    else log.debug(facts, 'catalog not refreshed');
  }

  async function look({ signal }: AbortController): Promise<void> {
    askedMs = 0;
    await holder.learnReleases().catch((error: unknown) => {
      log.debug({ err: error }, 'releases of held prices could not be read; those known stay');
    });
    try {
      const read = await download(url, seen.mark, { fetch, signal, timeoutMs });
      if (read !== null) seen = { mark: read.mark, fault: await holder.take(read) };
      if (seen.fault === null) taken(read === null ? 'unchanged' : 'taken');
      else notTaken('refused', seen.fault);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof DownloadFailed) {
        askedMs = error.askedMs;
        notTaken('failed', error.message);
      } else notTaken('failed', 'the price map could not be read', error);
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

  return {
    current,
    at,
    held,
    release,
    status: () => ({
      source: current().source,
      takenAt: current().takenAt,
      count: current().entries.length,
      lastCheckedAt,
      lastError,
      held: held().length,
      looks: { ...looks },
    }),
    refresh,
    async restore() {
      await holder.learnReleases().catch((error: unknown) => {
        log.warn({ err: error }, 'releases of held prices could not be read');
      });
      if (refreshSeconds > 0) seen = { mark: await holder.restore(), fault: null };
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
