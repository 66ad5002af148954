import type { CatalogSource } from '../../src/domain/catalog/catalog.ts';
import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { PassThroughEndpoints } from '../../src/domain/pass-through/endpoints.ts';
import type { SearchVendors } from '../../src/domain/search-tools/search.ts';
import type { SearchTools } from '../../src/domain/search-tools/search-tool.ts';
import type { CostAdjustments } from '../../src/domain/settings/cost-adjustments.ts';
import type { ForwardGateway } from '../../src/gateway/gateway.ts';

/** Search tools, and the gateway that sends their searches. */
export interface SearchPlatform {
  readonly searchTools: SearchTools;
  readonly searchVendors: SearchVendors;
  readonly passThrough: Pick<PassThroughEndpoints, 'timeoutSeconds'>;
  readonly gateway: ForwardGateway;
  readonly catalog: CatalogSource;
  /** Discounts and margins of providers. */
  readonly costAdjustments: () => CostAdjustments;
  readonly clock: Clock;
  readonly ids: Ids;
}
