import type { RowStore, Stamps } from '../row-store.ts';
import type { Probe } from './probe.ts';

/** Result of a probe of a deployment by any process. It was made at `createdAt`, by `createdBy`. */
export interface HealthCheck extends Stamps, Pick<Probe, 'failure' | 'latencyMs'> {
  readonly id: string;
  readonly deploymentId: string;
  readonly modelGroup: string;
}

/** All conditions must match; null matches all. */
export interface HealthCheckFilter {
  readonly deploymentIds: readonly string[] | null;
  readonly modelGroup: string | null;
  readonly isHealthy: boolean | null;
  /** Only checks before this time. */
  readonly before: Date | null;
}

export interface HealthCheckStore extends RowStore<HealthCheck, HealthCheckFilter> {
  /** The latest check of each of the deployments that has one. */
  latest(deploymentIds: readonly string[]): Promise<readonly HealthCheck[]>;
}
