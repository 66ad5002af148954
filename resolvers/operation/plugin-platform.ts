import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { Marketplace } from '../../src/domain/plugins/marketplace.ts';
import type { Stores } from './stores.ts';

/** Plugins of Claude Code. */
export interface PluginPlatform {
  readonly stores: Pick<Stores, 'plugins'>;
  readonly marketplace: Marketplace;
  readonly clock: Clock;
  readonly ids: Ids;
}
