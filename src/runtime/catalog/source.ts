import type { FollowedCatalog, CheckOutcome } from '../../domain/catalog/catalog.ts';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';
import { download, DownloadFailed, type Fetch } from './download.ts';
import { type CatalogHolderOptions, createCatalogHolder } from './holder.ts';

/** Default address of the price map. */
const UPSTREAM_URL = 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json';

/** Maximum delay after failures, in ms, before jitter. A longer interval or `Retry-After` has priority. */
const MAX_DELAY_MS = 15 * 60_000;
/** Maximum jitter of a delay, as a fraction of it. */
const JITTER = 0.1;
/** Timeout of a download, in ms. */
const TIMEOUT_MS = 30_000;

export interface CatalogSourceOptions extends Omit<CatalogHolderOptions, 'url'> {
  /** An http(s) address, a `file:` address or a path; null for the default. */
  readonly url: string | null;
  /** Seconds between two checks of the source; zero: no periodic checks and no restored map. */
  readonly refreshSeconds: number;
  readonly scheduler: Scheduler;
  /** By default Node's `fetch`, which Node loads when it is first used. */
  readonly fetch?: Fetch;
  /** Timeout of a download, in ms. */
  readonly timeoutMs?: number;
  /** From 0 to 1, exclusive; spreads the checks of many processes. */
  readonly random?: () => number;
}

/** A catalog that is refreshed periodically. */
export interface RefreshingCatalog extends FollowedCatalog {
  /** Restores the releases and, with periodic checks, the last good map of an earlier process. Never throws. */
  restore(): Promise<void>;
  /** Checks the source immediately, then periodically. Does nothing when `refreshSeconds` is zero. */
  start(): void;
  /** Stops the checks and aborts a download. The loaded catalog stays. */
  stop(): void;
}

/** Outcome of the last checks, for the delay of the next check. */
export interface CheckHistory {
  readonly refreshSeconds: number;
  /** Failures in a row. */
  readonly failures: number;
  /** `Retry-After` of the source, in ms; zero without one. */
  readonly retryAfterMs: number;
}

/** Delay of the next check in ms: longer with every failure in a row, and at least the source's `Retry-After`. */
export function nextDelayMs({ refreshSeconds, failures, retryAfterMs }: CheckHistory, random: number): number {
  const regular = refreshSeconds * 1000;
  const max = Math.max(regular, MAX_DELAY_MS);
  const delay = Math.min(regular * 2 ** Math.min(failures, 30), max);
  return Math.max(delay * (1 - JITTER + 2 * JITTER * random), retryAfterMs);
}

/**
 * Serves the last good catalog, else the built-in one, and refreshes it from the source. A new price map is validated
 * and its unit mistakes are quarantined. Then it replaces the current catalog as a whole. After a failure, the current
 * catalog stays in use.
 */
export function createCatalogSource(options: CatalogSourceOptions): RefreshingCatalog {
  const {
    refreshSeconds,
    scheduler,
    clock,
    log,
    fetch = globalThis.fetch,
    random = Math.random,
    timeoutMs = TIMEOUT_MS,
  } = options;
  const url = options.url ?? UPSTREAM_URL;
  const holder = createCatalogHolder({ ...options, url });
  const { current, findSnapshot, quarantined, release } = holder;
  const checks: Record<CheckOutcome, number> = { taken: 0, unchanged: 0, refused: 0, failed: 0 };
  let lastCheckedAt: Date | null = null;
  let lastError: string | null = null;
  let failures = 0;
  let retryAfterMs = 0;
  /**
   * Validator of the last complete download, and why it was refused. While a refused map does not change, it is not
   * downloaded again.
   */
  let lastDownload: { readonly validator: string | null; readonly fault: string | null } = {
    validator: null,
    fault: null,
  };
  let stopping = new AbortController();
  let task: ScheduledTask | null = null;
  let nextCheckAt: Date | null = null;
  let checking: Promise<void> | null = null;

  function recordSuccess(outcome: 'taken' | 'unchanged'): void {
    checks[outcome] += 1;
    if (failures > 0) log.info({ after: failures }, 'the catalog source is available again');
    lastError = null;
    failures = 0;
  }

  function recordFailure(outcome: 'refused' | 'failed', reason: string, error: unknown = null): void {
    checks[outcome] += 1;
    const isNewReason = reason !== lastError;
    lastError = reason;
    failures += 1;
    const { source, takenAt } = current();
    const facts = { reason, serving: source, takenAt, ...(error === null ? {} : { err: error }) };
    // Without a network every check fails: one warning per reason is enough.
    if (isNewReason) log.warn(facts, 'the catalog was not refreshed; the current one stays in use');
    else log.debug(facts, 'the catalog was not refreshed');
  }

  async function check({ signal }: AbortController): Promise<void> {
    retryAfterMs = 0;
    await holder.refreshReleases().catch((error: unknown) => {
      log.debug({ err: error }, 'releases of quarantined prices could not be read; the known ones stay in use');
    });
    try {
      const downloaded = await download(url, lastDownload.validator, { fetch, signal, timeoutMs });
      if (downloaded !== null) lastDownload = { validator: downloaded.validator, fault: await holder.take(downloaded) };
      if (lastDownload.fault === null) recordSuccess(downloaded === null ? 'unchanged' : 'taken');
      else recordFailure('refused', lastDownload.fault);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof DownloadFailed) {
        retryAfterMs = error.retryAfterMs;
        recordFailure('failed', error.message);
      } else recordFailure('failed', 'the price map could not be read', error);
    }
    lastCheckedAt = clock.now();
  }

  const refresh = (): Promise<void> =>
    (checking ??= check(stopping).finally(() => {
      checking = null;
    }));

  /** Returns the delay of the next check in ms, and sets `nextCheckAt`. */
  function planNextCheck(): number {
    const nextMs = nextDelayMs({ refreshSeconds, failures, retryAfterMs }, random());
    nextCheckAt = new Date(clock.now().getTime() + nextMs);
    return nextMs;
  }

  return {
    current,
    findSnapshot,
    quarantined,
    release,
    status: () => ({
      source: current().source,
      takenAt: current().takenAt,
      count: current().entries.length,
      lastCheckedAt,
      lastError,
      quarantined: quarantined().length,
      checks: { ...checks },
    }),
    refresh,
    refreshSeconds,
    nextCheckAt: () => nextCheckAt,
    async restore() {
      await holder.refreshReleases().catch((error: unknown) => {
        log.warn({ err: error }, 'releases of quarantined prices could not be read');
      });
      if (refreshSeconds > 0) lastDownload = { validator: await holder.restore(), fault: null };
    },
    start() {
      if (refreshSeconds === 0 || task !== null) return;
      stopping = new AbortController();
      nextCheckAt = clock.now();
      task = scheduler.every({ name: 'catalog-refresh', everyMs: planNextCheck, firstMs: 0, run: refresh });
    },
    stop() {
      stopping.abort();
      void task?.stop();
      task = null;
      nextCheckAt = null;
    },
  };
}
