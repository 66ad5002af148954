import type { FollowedCatalog } from '../../src/domain/catalog/catalog.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Metrics, ProcessLoad } from '../../src/domain/metrics.ts';
import type { ResponseCache } from '../../src/domain/response-cache/response-cache.ts';
import type { Configuration } from '../../src/domain/settings/configuration.ts';
import type { SpanExport } from '../../src/domain/traces/span-export.ts';
import type { Stores } from './stores.ts';
import type { RecordState } from './platform.ts';

/** External services that calls are reported to. */
export interface OutsidePlatform {
  /** Null where no collector of spans is configured. */
  readonly spanExport: Pick<SpanExport, 'counts' | 'push'> | null;
  /**
   * Tests of services that the process uses, by name. A test has a deadline. Its Unavailable error contains no address.
   */
  readonly serviceTests: ReadonlyMap<string, () => Promise<void>>;
}

/** The cache of answers. */
export interface ResponseCachePlatform {
  readonly responseCache: ResponseCache;
}

/** State of the process. */
export interface HealthPlatform {
  readonly stores: Pick<Stores, 'ping' | 'writable'>;
  readonly catalog: FollowedCatalog;
  readonly records: Pick<RecordState, 'waiting'>;
  readonly configuration: Configuration;
  readonly clock: Clock;
  /** Whether the process is shutting down. */
  draining(): boolean;
  load(): ProcessLoad;
}

/** Measurements of the process. */
export interface MetricsPlatform {
  readonly metrics: Metrics;
}

/** Periodic work that one of all processes does in each period (ADR 0061). */
export interface DutyPlatform {
  readonly stores: Pick<Stores, 'jobs'>;
  readonly clock: Clock;
}
