import type { StartingBatches } from '../../src/domain/upstream-objects/starting-batches.ts';
import type { ObjectPlatform } from './platform.ts';
import type { Stores } from './stores.ts';

/** As `ObjectPlatform`, for new batches. The rows of keys tell which batches belong to sessions of one key. */
export interface BatchPlatform extends ObjectPlatform {
  readonly stores: Pick<Stores, 'keys' | 'upstreamObjects'>;
  readonly startingBatches: StartingBatches;
}
