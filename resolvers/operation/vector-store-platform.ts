import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { CredentialFinder } from '../../src/domain/credentials/credential.ts';
import type { PassThroughEndpoints } from '../../src/domain/pass-through/endpoints.ts';
import type { ProviderAccounts } from '../../src/domain/pass-through/providers.ts';
import type { VectorStoreIndexes } from '../../src/domain/vector-store-indexes/vector-store-index.ts';
import type { VectorStores } from '../../src/domain/vector-stores/vector-store.ts';
import type { ForwardGateway, Gateway } from '../../src/gateway/gateway.ts';
import type { ObjectRightsPlatform } from './object-rights-platform.ts';
import type { Stores } from './stores.ts';

/** Registered vector stores, and calls to their providers. */
export interface VectorStorePlatform extends ObjectRightsPlatform {
  readonly stores: Pick<Stores, 'upstreamObjects'>;
  readonly vectorStores: VectorStores;
  readonly vectorStoreIndexes: VectorStoreIndexes;
  /** Accounts of providers, for stores without an account of their own. */
  readonly accounts: Pick<ProviderAccounts, 'of'>;
  /** Stored credentials by name. */
  readonly credentials: Pick<CredentialFinder, 'find'>;
  readonly passThrough: Pick<PassThroughEndpoints, 'timeoutSeconds'>;
  readonly gateway: ForwardGateway;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Ingestion of files into vector stores, and answers with their texts. */
export interface RagPlatform extends VectorStorePlatform {
  readonly gateway: ForwardGateway & Pick<Gateway, 'call'>;
  /** Waits. Rejects with the reason of the signal when the signal aborts first. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
}
