import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import { MAX_TRACING_KEYS, TRACING_KEY_PREFIX, type TracingKey } from '../src/domain/lens/tracing-key.ts';
import { assertTextLengths, TRACING_KEY_LIMITS } from '../src/domain/lens/text-limits.ts';
import { newStamps } from '../src/domain/row-store.ts';
import { storable } from '../src/domain/storable.ts';
import { authored } from './operation/authored.ts';
import { lensAdmin, lensReader } from './operation/lens-access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Number of characters in the random part of a token. */
const RANDOM_CHARACTERS = 54;

export interface TracingKeyDraft {
  readonly name: string;
  /** Empty for no team. */
  readonly teamId: string;
  /** Null for a key that never expires. */
  readonly expiresAt: Date | null;
}

/** A key with its token, which cannot be read again. */
export interface IssuedTracingKey {
  readonly token: string;
  readonly key: TracingKey;
}

/**
 * Creates a key that may only send traces. Throws InvalidInput for an expiry in the past and for texts beyond their
 * limits, and Conflict when the maximum number of keys exists.
 */
export const createTracingKey = operation({
  name: 'createTracingKey',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, { name, teamId, expiresAt }: TracingKeyDraft): Promise<IssuedTracingKey> {
    const { stores, ids, keyGenerator } = scope.platform;
    assertTextLengths([
      { name: 'name', text: name, min: 1, max: TRACING_KEY_LIMITS.name },
      { name: 'team_id', text: teamId, max: TRACING_KEY_LIMITS.teamId },
    ]);
    const authorship = authored(scope);
    if (expiresAt !== null && expiresAt <= authorship.now) {
      const message = 'Choose an expiry in the future';
      throw new InvalidInput(message, [{ path: [], rule: 'text', message }]);
    }
    if ((await stores.tracingKeys.count({ tokenHash: null })) >= MAX_TRACING_KEYS)
      throw new Conflict('Revoke an unused ingestion key before creating another');
    const random = `${keyGenerator.token()}${keyGenerator.token()}`.slice(0, RANDOM_CHARACTERS);
    const unixSeconds = Math.floor(authorship.now.getTime() / 1_000);
    const token = `${TRACING_KEY_PREFIX}${unixSeconds}-${random}`;
    const key: TracingKey = {
      ...newStamps(authorship),
      id: ids.uuid(),
      name: storable(name),
      tokenHash: keyGenerator.hash(token),
      teamId: storable(teamId),
      userId: callerOf(scope).userId ?? '',
      organizationId: '',
      expiresAt,
    };
    await stores.tracingKeys.add(key);
    return { token, key };
  },
});

/** Lists the tracing keys, the oldest first. */
export const listTracingKeys = operation({
  name: 'listTracingKeys',
  access: lensReader,
  run: (scope: Scope<LensPlatform>, _input: undefined): Promise<readonly TracingKey[]> =>
    scope.platform.stores.tracingKeys.all({ tokenHash: null }),
});

/** Deletes a tracing key. Null when there was none. */
export const deleteTracingKey = operation({
  name: 'deleteTracingKey',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, { id }: { readonly id: string }): Promise<TracingKey | null> {
    const { stores, tracingKeyRing } = scope.platform;
    const [removed] = await stores.tracingKeys.remove([id]);
    if (removed === undefined) return null;
    tracingKeyRing.evictTracingKey(removed.tokenHash);
    return removed;
  },
});
