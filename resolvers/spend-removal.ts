import { system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import type { Stores } from './operation/stores.ts';

/** Removes at most `limit` spend rows of calls that started before `beforeMs` (Unix ms); resolves to their number. */
export const removeExpiredSpend = operation({
  name: 'removeExpiredSpend',
  access: system,
  run: (
    { platform }: Scope<{ readonly stores: Pick<Stores, 'spend'> }>,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> => platform.stores.spend.removeStartedBefore(beforeMs, limit),
});
