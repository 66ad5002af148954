import type { ProcessLoad } from '../src/domain/metrics.ts';
import { NotReady } from '../src/domain/not-ready.ts';
import type { ConfigReload } from '../src/domain/settings/configuration.ts';
import { isSwitchedOn } from '../src/domain/settings/switches.ts';
import { withDeadline } from '../src/domain/with-deadline.ts';
import { anyKey, anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { HealthPlatform } from './operation/health-platform.ts';
import type { Scope } from './operation/scope.ts';
import { type CatalogHealth, catalogHealth } from './operation/catalog-health.ts';

/** Details of the state of a ready process. */
export interface Readiness {
  readonly catalog: CatalogHealth;
  /** Calls whose spend row and span are not committed yet. */
  readonly recordsWaiting: number;
  /** The last attempt to read the configuration again; null before the first. */
  readonly reload: ConfigReload | null;
}

/** Deadline of the database ping of a readiness check, in ms. */
const PING_DEADLINE_MS = 2_000;

/**
 * Throws NotReady while the process is draining, the database does not answer, or it does not accept writes. A
 * readiness check after a failed write probes the database, so that the process becomes ready again without traffic.
 */
async function assertReady({ draining, stores }: HealthPlatform): Promise<void> {
  if (draining()) throw new NotReady('shutting_down', 'The process is shutting down.');
  await withPingDeadline(stores.ping()).catch((cause: unknown) => {
    if (cause instanceof NotReady) throw cause;
    throw new NotReady('disconnected', 'The database does not answer.', { cause });
  });
  await stores.writable().catch((cause: unknown) => {
    throw new NotReady('stalled', 'The database takes no writes.', { cause });
  });
}

const readinessOf = (platform: HealthPlatform): Readiness => ({
  catalog: catalogHealth(platform),
  recordsWaiting: platform.records.waiting(),
  reload: platform.configuration.lastReload(),
});

/**
 * Checks that the process can serve. Resolves to the details when the settings make them public, otherwise to null.
 * Throws NotReady when it cannot serve.
 */
export const checkReadiness = operation({
  name: 'checkReadiness',
  access: anyone,
  async run({ platform }: Scope<HealthPlatform>, _input: undefined): Promise<Readiness | null> {
    await assertReady(platform);
    const isPublic = isSwitchedOn(platform.configuration, 'allow_public_health_readiness_details');
    // Reading the details loads the catalog. A check without details does not wait for that.
    return isPublic ? readinessOf(platform) : null;
  },
});

/** As `checkReadiness` with the details, for callers with a key. */
export const checkReadinessDetails = operation({
  name: 'checkReadinessDetails',
  access: anyKey,
  async run({ platform }: Scope<HealthPlatform>, _input: undefined): Promise<Readiness> {
    await assertReady(platform);
    return readinessOf(platform);
  },
});

/** Counts requests and calls in progress. */
export const readLoad = operation({
  name: 'readLoad',
  access: anyKey,
  run: ({ platform }: Scope<HealthPlatform>, _input: undefined): ProcessLoad => platform.load(),
});

/** Checks the credential of a request. The answer to the request is constant and needs no other operation. */
export const checkCaller = operation({
  name: 'checkCaller',
  access: anyKey,
  run: (_scope: Scope<object>, _input: undefined): null => null,
});

const withPingDeadline = (ping: Promise<void>): Promise<void> =>
  withDeadline(ping, PING_DEADLINE_MS, () => {
    throw new NotReady('stalled', `The database does not answer within ${PING_DEADLINE_MS} ms.`);
  });
