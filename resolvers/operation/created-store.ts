import { Conflict } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { DEFAULT_USER_ID } from '../../src/domain/users/user.ts';
import { authored } from './authored.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';
import { askStore, deletionScope, type StoreTarget } from './vector-store-calls.ts';
import type { VectorStorePlatform } from './vector-store-platform.ts';

/**
 * Registers a store that the caller created at the default account of a provider, for the caller's team. When that
 * fails, the store is deleted at the provider before the error is thrown: no caller could use it.
 */
export async function registerCreatedStore(
  scope: Scope<VectorStorePlatform>,
  target: StoreTarget,
  { id, name }: { readonly id: string; readonly name: string | null },
): Promise<void> {
  const caller = callerOf(scope);
  try {
    await scope.platform.vectorStores.add(
      {
        id,
        provider: target.provider,
        name,
        description: null,
        metadata: null,
        credentialName: null,
        params: {},
        teamId: nullIfBlank(caller.teamId),
        userId: nullIfBlank(caller.userId) ?? DEFAULT_USER_ID,
      },
      authored(scope),
    );
  } catch (failure) {
    // Another process has registered it already.
    if (failure instanceof Conflict) return;
    const request = { action: 'delete', method: 'DELETE', path: ['vector_stores', id] } as const;
    await askStore(deletionScope(scope), target, { ...request, callId: null, parent: null }).catch(() => {});
    throw failure;
  }
}
