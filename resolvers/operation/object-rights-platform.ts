import type { CustomerPermissions } from '../../src/domain/object-permissions/permission-layers.ts';
import type { Configuration } from '../../src/domain/settings/configuration.ts';

/** What the rights over MCP servers, agents and vector stores need, besides the caller. */
export interface ObjectRightsPlatform {
  readonly customerPermissions: CustomerPermissions;
  readonly configuration: Configuration;
}
