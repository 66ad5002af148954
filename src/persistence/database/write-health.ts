import { DomainError, Unavailable } from '../../domain/errors.ts';
import { withDeadline } from '../../domain/with-deadline.ts';

/** Maximum wait of `check` for a probe, in ms. */
const WAIT_MS = 1_000;
/** Minimum time from the end of a probe to the start of the next, in ms. */
const PAUSE_MS = 1_000;

/** Whether the database accepts writes, by the outcomes of the writes of all stores, and of probes. */
export interface WriteHealth {
  succeeded(): void;
  failed(error: unknown): void;
  /** Number of failed writes since the start, retries included. Domain errors other than Unavailable do not count. */
  failures(): number;
  /**
   * Resolves while writes work. Before the first write and after a failed write, it probes the database, at most once
   * a second. After a failed probe, or a write that failed with Unavailable, it throws Unavailable, within a second,
   * until a probe succeeds. It also throws while the first probe has no result.
   */
  check(): Promise<void>;
}

/**
 * Only a probe ends the failing state: it locks every table, while a write that succeeds may use other tables than the
 * write that failed. `probe` makes a small write and rejects when that fails.
 */
export function createWriteHealth(probe: () => Promise<void>): WriteHealth {
  // Unknown before the first write.
  let state: 'working' | 'unknown' | 'failing' = 'unknown';
  let failures = 0;
  let lastError: unknown = null;
  let runningProbe: Promise<void> | null = null;
  let lastProbeEndMs = Number.NEGATIVE_INFINITY;

  function fail(error: unknown): void {
    state = 'failing';
    lastError = error;
  }

  async function runProbe(): Promise<void> {
    const failuresBefore = failures;
    try {
      await probe();
      // A write that failed meanwhile may have begun after the probe.
      if (failures === failuresBefore) state = 'working';
    } catch (error) {
      fail(error);
    } finally {
      lastProbeEndMs = performance.now();
      runningProbe = null;
    }
  }

  return {
    succeeded() {
      if (state === 'unknown') state = 'working';
    },
    failed(error) {
      if (error instanceof Unavailable) {
        failures += 1;
        fail(error);
      } else if (!(error instanceof DomainError)) {
        // Refused data, or an unknown failure of the database: the probe of the next check decides.
        failures += 1;
        if (state === 'working') state = 'unknown';
      }
    },
    failures: () => failures,
    async check() {
      if (state === 'working') return;
      const isPauseOver = performance.now() - lastProbeEndMs >= PAUSE_MS;
      if (runningProbe === null && isPauseOver) runningProbe = runProbe();
      if (runningProbe !== null) await withDeadline(runningProbe, WAIT_MS, () => {});
      // After the first probe, the state is unknown when a write fails with an error such as refused data. Such a write
      // alone is no reason to throw.
      const hasProbed = lastProbeEndMs !== Number.NEGATIVE_INFINITY;
      if (state === 'failing' || (state === 'unknown' && !hasProbed))
        throw new Unavailable('The database takes no writes.', undefined, { cause: lastError });
    },
  };
}
