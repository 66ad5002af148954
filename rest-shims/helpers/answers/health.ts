import { VERSION } from '../../../src/domain/version.ts';
import type { Readiness } from '../../../resolvers/health.ts';
import type { UnreadyState } from '../../../src/domain/not-ready.ts';

/** Readiness answer without details. Details need a key, unless a setting makes them public. */
export const READY = { status: 'healthy', db: 'connected' } as const;

/** Readiness answer of a process that cannot serve. */
export const notReadyObject = (state: UnreadyState) =>
  state === 'shutting_down' ? { status: state } : { status: 'unhealthy', db: state };

const renderState = ({ catalog, recordsWaiting, reload }: Readiness) => ({
  catalog: {
    source: catalog.source,
    entries: catalog.count,
    taken_at: catalog.takenAt.toISOString(),
    age_seconds: catalog.ageSeconds,
    quarantined: catalog.quarantined,
    last_checked_at: catalog.lastCheckedAt?.toISOString() ?? null,
    last_error: catalog.lastError,
  },
  records_waiting: recordsWaiting,
  // A failed reload keeps the running configuration. The reason of the failure is in the log and in the graph.
  ...(reload === null
    ? {}
    : { configuration: { read_again_at: reload.at.toISOString(), kept_running: reload.failure !== null } }),
});

/**
 * Readiness answer with details: catalog, records that wait to be written, and the last reload of the configuration.
 */
export const detailsObject = (readiness: Readiness) => ({
  ...READY,
  cache: null,
  litellm_version: VERSION,
  success_callbacks: [],
  ...renderState(readiness),
});
