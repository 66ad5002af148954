import { overLimitWarnings } from '../domain/auto-routers/entitlement.ts';
import type { CredentialFinder, CredentialStore } from '../domain/credentials/credential.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { DeploymentRegistry } from '../domain/deployments/deployment-source.ts';
import type { DeploymentStore } from '../domain/deployments/stored-deployment.ts';
import type { FallbackRegistry } from '../domain/fallbacks/fallback.ts';
import { createDeploymentRegistry } from '../gateway/routing/deployment-registry.ts';
import { createFallbackRegistry } from '../gateway/routing/fallback-registry.ts';
import type { Stores as DatabaseStores } from '../persistence/stores.ts';
import { demoDeployment } from '../providers/providers.ts';
import { systemClock } from '../runtime/clock.ts';
import { createSealedCredentials, createSealedDeployments } from '../runtime/credentials/sealed-stores.ts';
import { addressFault, withCredential } from '../runtime/settings/deployments.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import type { RunningConfiguration } from '../runtime/stored-settings/configuration.ts';
import type { StartContext } from './context.ts';

/** The deployments that calls are routed to, their fallbacks, and the stores of deployments and credentials. */
export interface Deployments {
  readonly deployments: DeploymentRegistry & CredentialFinder;
  readonly deploymentStore: DeploymentStore;
  readonly credentialStore: CredentialStore;
  readonly fallbacks: FallbackRegistry;
}

/** Deployments of the file, and the demo deployment where it is served. */
export const configuredDeployments = (
  { demoModel }: Pick<Settings, 'demoModel'>,
  deployments: readonly Deployment[],
): readonly Deployment[] => (demoModel ? [...deployments, demoDeployment] : deployments);

/** Warns of more auto routers of the file and of the database than may be registered. */
export function warnOfRouters({ log }: Pick<StartContext, 'log'>, deployments: Pick<DeploymentRegistry, 'all'>): void {
  for (const warning of overLimitWarnings(deployments.all().map(({ deployment }) => deployment))) log.warn({}, warning);
}

/** Creates the stores, which encrypt with the salt key, and reads the stored deployments and fallbacks. */
export async function composeDeployments(
  context: StartContext,
  {
    stores,
    configuration,
  }: {
    readonly stores: Pick<DatabaseStores, 'credentials' | 'deployments' | 'fallbacks'>;
    readonly configuration: Pick<RunningConfiguration, 'routing' | 'routingOfOwners'>;
  },
): Promise<Deployments> {
  const { settings } = context;
  const deploymentStore = createSealedDeployments(stores.deployments, settings.saltSecrets);
  const credentialStore = createSealedCredentials(stores.credentials, settings.saltSecrets);
  const deployments = createDeploymentRegistry({
    configured: configuredDeployments(settings, settings.deployments),
    // Credentials of the configuration file.
    declared: settings.credentials,
    deployments: settings.storesModels ? deploymentStore : null,
    credentials: credentialStore,
    reader: settings.deploymentReader,
    withCredential,
    addressFault,
    aliases: () => configuration.routing().policy.aliases,
    nowMs: () => systemClock.monotonicMs(),
  });
  const fallbacks = createFallbackRegistry({
    store: settings.storesModels ? stores.fallbacks : null,
    configured: configuration.routing,
    ofOwners: configuration.routingOfOwners,
  });
  await Promise.all([deployments.reload(), fallbacks.refresh()]);
  warnOfRouters(context, deployments);
  return { deployments, deploymentStore, credentialStore, fallbacks };
}
