import { expect, it } from 'vitest';
import { Unauthenticated } from '../../../src/domain/errors.ts';
import type { TracingKey } from '../../../src/domain/lens/tracing-key.ts';
import { createCredentialRing } from '../../../src/gateway/keys/credential-ring.ts';
import { aRing, sha256 } from '../../support/key-ring.ts';
import { UNLIMITED } from '../../support/unlimited-key-ring.ts';

const TOKEN = 'lens-trace-1-token';
const TOKEN_HASH = sha256(TOKEN);
const STORED_KEY = { id: 'one', name: 'bot', tokenHash: TOKEN_HASH, teamId: 't', expiresAt: null } as TracingKey;

/** A ring whose reads of tracing keys the test resolves. */
function aTracingRing() {
  const reads: PromiseWithResolvers<readonly TracingKey[]>[] = [];
  const ring = createCredentialRing(aRing().ring, {
    generator: { hash: sha256 },
    clock: { now: () => new Date(0), monotonicMs: () => 0 },
    failures: UNLIMITED.failures,
    acceptance: null,
    tokens: { use: () => undefined, set() {}, delete() {} },
    tracingKeys: {
      all() {
        const read = Promise.withResolvers<readonly TracingKey[]>();
        reads.push(read);
        return read.promise;
      },
    },
  });
  return { ring, reads };
}

it('a tracing key is read once, and then identified from memory', async () => {
  const { ring, reads } = aTracingRing();
  const identified = ring.identify(TOKEN);
  reads[0]?.resolve([STORED_KEY]);
  expect(await identified).toMatchObject({ teamId: 't' });
  expect(ring.identify(TOKEN)).toMatchObject({ teamId: 't' });
  expect(reads).toHaveLength(1);
});

it.each([
  ['deleted in this process', (ring: ReturnType<typeof aTracingRing>['ring']) => ring.evictTracingKey(TOKEN_HASH)],
  ['changed by another process', (ring: ReturnType<typeof aTracingRing>['ring']) => ring.evictTracingKeys()],
])('a tracing key that is %s during a read is not cached by this read', async (_what, evict) => {
  const { ring, reads } = aTracingRing();
  const identified = ring.identify(TOKEN);
  evict(ring);
  reads[0]?.resolve([STORED_KEY]);
  await identified;
  const next = ring.identify(TOKEN);
  reads[1]?.resolve([]);
  await expect(next).rejects.toThrow(Unauthenticated);
});
