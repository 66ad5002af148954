import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { Stores } from './stores.ts';

/** Texts that clients store for users and teams. */
export interface MemoryPlatform {
  readonly stores: Pick<Stores, 'memory'>;
  readonly clock: Clock;
  readonly ids: Ids;
}
