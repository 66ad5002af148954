import type { ObjectKind, UpstreamObject } from '../src/domain/upstream-objects/upstream-object.ts';
import { system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { ObjectPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Kinds whose expected cost is held until they have ended. */
const HELD_KINDS: readonly ObjectKind[] = ['batch', 'response'];
/** Number of objects that one read of the store returns. */
const PAGE_SIZE = 1_000;
/** Maximum number of objects whose expected cost is held. The newest ones are held. */
const MAX_HELD = 10_000;

/**
 * Holds the expected costs of stored batches and background responses whose cost is not recorded yet in the budgets of
 * their owners. So a restart and other processes keep them. At most `MAX_HELD` objects are held.
 */
export const refreshOpenCosts = operation({
  name: 'refreshOpenCosts',
  access: system,
  run: (scope: Scope<ObjectPlatform>, _input: undefined): Promise<void> =>
    scope.platform.gateway.openCosts.refresh(() => heldObjects(scope)),
});

async function heldObjects({ platform }: Scope<ObjectPlatform>): Promise<readonly UpstreamObject[]> {
  const held: UpstreamObject[] = [];
  while (held.length < MAX_HELD) {
    const after = held.at(-1) ?? null;
    const page = { kinds: HELD_KINDS, holding: true, limit: PAGE_SIZE, after };
    // oxlint-disable-next-line no-await-in-loop -- each page begins after the previous one
    const found = await platform.stores.upstreamObjects.listOpen(page);
    held.push(...found);
    if (found.length < PAGE_SIZE) break;
  }
  return held;
}
