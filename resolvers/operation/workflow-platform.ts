import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { Stores } from './stores.ts';

/** State of workflows that clients store. */
export interface WorkflowPlatform {
  readonly stores: Pick<Stores, 'workflows'>;
  readonly clock: Clock;
  readonly ids: Ids;
}
