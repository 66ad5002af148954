import type { UpstreamObject } from '../../src/domain/upstream-objects/upstream-object.ts';
import type { CustomerPermissions } from '../../src/domain/object-permissions/permission-layers.ts';
import type { VectorStoreIndexes } from '../../src/domain/vector-store-indexes/vector-store-index.ts';
import type { VectorStores } from '../../src/domain/vector-stores/vector-store.ts';
import type { RowQueue } from '../../src/domain/row-queue.ts';
import type { Configuration } from '../../src/domain/settings/configuration.ts';

/** Parts of the platform that decide, with the caller, the rights to MCP servers, agents and vector stores. */
export interface ObjectRightsPlatform {
  readonly customerPermissions: CustomerPermissions;
  readonly configuration: Configuration;
}

/** Parts that decide the rights to vector stores which a request to another API names. */
export interface StoreNamingPlatform extends ObjectRightsPlatform {
  readonly vectorStores: VectorStores;
  readonly vectorStoreIndexes: VectorStoreIndexes;
}

/** As `StoreNamingPlatform`, for requests that also name containers. */
export interface ContainerNamingPlatform extends StoreNamingPlatform {
  /** Stores containers that upstreams make for responses, and responses in the background. */
  readonly objectQueue: RowQueue<UpstreamObject>;
  readonly records: {
    /** Resolves to true when the spend of the calls that have ended is stored; to false when the store is slow. */
    spendStored(): Promise<boolean>;
  };
}
