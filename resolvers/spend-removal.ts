import { system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Removes at most `limit` spend rows of calls that started before `beforeMs` (Unix ms); resolves to their number. */
export const removeExpiredSpend = operation({
  name: 'removeExpiredSpend',
  access: system,
  run: (
    { platform }: Scope<SpendPlatform>,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> => platform.stores.spend.removeStartedBefore(beforeMs, limit),
});
