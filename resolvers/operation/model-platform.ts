import type { CatalogSource } from '../../src/domain/catalog/catalog.ts';
import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { CredentialFinder } from '../../src/domain/credentials/credential.ts';
import type { DeploymentReader, DeploymentRegistry } from '../../src/domain/deployments/deployment-source.ts';
import type { HealthCheck } from '../../src/domain/deployments/health-check.ts';
import type { RowQueue } from '../../src/domain/row-queue.ts';
import type { FallbackRegistry } from '../../src/domain/fallbacks/fallback.ts';
import type { Configuration } from '../../src/domain/settings/configuration.ts';
import type { Gateway, ProbeGateway } from '../../src/gateway/gateway.ts';
import type { Stores } from './stores.ts';

/** Deployments, their health and their probes. */
export interface DeploymentPlatform {
  readonly stores: Pick<Stores, 'teams' | 'healthChecks'>;
  readonly deployments: DeploymentRegistry;
  readonly fallbacks: Pick<FallbackRegistry, 'policy'>;
  readonly gateway: Pick<Gateway, 'admitKey' | 'deployments' | 'healthOf'> & ProbeGateway;
  readonly catalog: CatalogSource;
  readonly healthChecks: {
    /** Whether deployments are probed periodically. */
    readonly background: boolean;
    /** Whether reports have details in addition to names. */
    readonly details: boolean;
    readonly queue: Pick<RowQueue<HealthCheck>, 'caughtUp'>;
  };
  readonly configuration: Configuration;
  /** Whether every caller sees the base address of the upstream of an answer; administrators always do. */
  readonly exposesApiBase: boolean;
}

/** Models that providers turn off. */
export interface DeprecationPlatform {
  readonly deployments: Pick<DeploymentRegistry, 'all'>;
  readonly catalog: CatalogSource;
  readonly clock: Clock;
}

/** Tests of connections to providers. */
export interface ConnectionTestPlatform {
  readonly deploymentReader: DeploymentReader;
  readonly credentials: CredentialFinder;
  readonly gateway: ProbeGateway;
}

/** Deployments that administrators create at run time. */
export interface StoredDeploymentPlatform {
  readonly stores: Pick<Stores, 'autoRouters' | 'credentials' | 'deployments'>;
  readonly deployments: DeploymentRegistry;
  /** Stored credentials by name. */
  readonly credentials: CredentialFinder;
  readonly deploymentReader: DeploymentReader;
  /** Whether deployments may be created at run time. */
  readonly storesModels: boolean;
  /** Logs a warning about the prices of a deployment that a caller has created or changed. */
  readonly modelWarning: (event: { readonly id: string; readonly model: string; readonly warning: string }) => void;
  readonly configuration: Configuration;
  readonly catalog: CatalogSource;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Auto routers, and the decisions of their calls. */
export interface AutoRouterPlatform extends Pick<StoredDeploymentPlatform, 'deployments' | 'clock'> {
  readonly stores: Pick<Stores, 'autoRouters'>;
}

/** Stored deployments of teams. */
export interface TeamModelPlatform extends Pick<StoredDeploymentPlatform, 'deployments'> {
  readonly stores: Pick<Stores, 'deployments'>;
}

/** Fallbacks of models. */
export interface FallbackPlatform {
  readonly stores: Pick<Stores, 'fallbacks'>;
  readonly fallbacks: FallbackRegistry;
  readonly deployments: Pick<DeploymentRegistry, 'all'>;
  /** Whether fallbacks may be stored at run time. */
  readonly storesModels: boolean;
  readonly clock: Clock;
}
