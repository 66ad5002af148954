import type { CustomerPermissions } from '../../src/domain/object-permissions/permission-layers.ts';
import type { VectorStores } from '../../src/domain/vector-stores/vector-store.ts';
import type { Configuration } from '../../src/domain/settings/configuration.ts';

/** What the rights over MCP servers, agents and vector stores need, besides the caller. */
export interface ObjectRightsPlatform {
  readonly customerPermissions: CustomerPermissions;
  readonly configuration: Configuration;
}

/** What the rights to vector stores need that requests for other APIs name. */
export interface StoreNamingPlatform extends ObjectRightsPlatform {
  readonly vectorStores: VectorStores;
}
