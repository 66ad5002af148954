import { expect, it } from 'vitest';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { refreshKeys } from '../../../resolvers/keys.ts';
import { removeExpiredTraces } from '../../../resolvers/trace-removal.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { Forbidden, Unauthenticated } from '../../../src/domain/errors.ts';
import { SystemCaller } from '../../../src/domain/system-caller.ts';
import { aCaller } from '../../support/chat.ts';

/** A scope whose stores, caller watch and key ring record their calls. */
function aScope(caller: Caller | null) {
  const calls: unknown[] = [];
  const removeStartedBefore = async (beforeMs: number, limit: number): Promise<number> => {
    calls.push(['old traces', beforeMs, limit]);
    return 3;
  };
  const annotations = {
    list: async ({ filter, limit }: { filter: { traceBeforeMs: number }; limit: number }) => {
      calls.push(['old annotations', filter.traceBeforeMs, limit]);
      return [{ id: 'old' }];
    },
    remove: async (ids: readonly string[]) => {
      calls.push(['removed', ...ids]);
    },
  };
  const platform = {
    stores: { annotations, traceSignals: { list: () => Promise.resolve([]) }, traces: { removeStartedBefore } },
    callerWatch: { runChecks: () => calls.push('checks') },
    keyRing: {
      refresh: async () => {
        calls.push('refresh');
      },
    },
  };
  const scope = { platform, caller } as unknown as Scope;
  return { scope, calls };
}

it('background work runs with the system caller', async () => {
  const { scope, calls } = aScope(new SystemCaller('retention'));
  expect(await removeExpiredTraces(scope, { beforeMs: 7, limit: 5 })).toBe(3);
  await refreshKeys(scope, undefined);
  expect(calls).toEqual([['old annotations', 7, 5], ['removed', 'old'], ['old traces', 7, 5], 'checks', 'refresh']);
});

it('a proxy administrator and an anonymous caller may not run background work', () => {
  const administrator = aScope({ ...aCaller(), role: 'proxy_admin', keyHash: 'retention', key: null });
  expect(() => removeExpiredTraces(administrator.scope, { beforeMs: 7, limit: 5 })).toThrow(Forbidden);
  const anonymous = aScope(null);
  expect(() => removeExpiredTraces(anonymous.scope, { beforeMs: 7, limit: 5 })).toThrow(Unauthenticated);
  expect([administrator.calls, anonymous.calls]).toEqual([[], []]);
});
