import { expect, it } from 'vitest';
import type { RateLimit } from '../../../src/domain/admission/rate-limits.ts';
import type { VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { CHAT_COMPLETIONS } from '../../../src/domain/inference/endpoint.ts';
import { createCallLimits } from '../../../src/gateway/admission/rate-limits.ts';

/** Tokens that a call of a key with the metadata `own` reserves, in a team with the metadata `ofTeam`. */
function reservedFor(own: object, ofTeam: object): number {
  let reserved = -1;
  const limits = createCallLimits(
    {
      admit(_limits: readonly RateLimit[], expected: number) {
        reserved = expected;
        return { kind: 'admitted', standings: [], settle() {} };
      },
      prepare() {},
    },
    { now: () => new Date(0) },
  );
  const key = {
    hash: 'h',
    metadata: own,
    settings: { tpmLimit: 100_000 },
    owners: { team: { id: 't', metadata: ofTeam, limits: {} } },
  } as unknown as VirtualKey;
  const call = { endpoint: CHAT_COMPLETIONS, body: { messages: [] }, bytes: new Uint8Array(), model: 'm' };
  void limits.admit({ role: 'internal_user', keyHash: 'h', key, teamId: 't', userId: null }, call);
  return reserved;
}

const perModel = (count: number) => ({ default_estimated_output_tokens_per_model: { m: count } });
const forAllModels = (count: number) => ({ default_estimated_output_tokens: count });

it.each([
  [{}, {}, 1_024],
  [{}, forAllModels(7), 7],
  [{}, { ...forAllModels(7), ...perModel(8) }, 8],
  [forAllModels(3), { ...forAllModels(7), ...perModel(8) }, 3],
  [{ ...forAllModels(3), ...perModel(4) }, perModel(8), 4],
])('the expected output of a call of a key with %j in a team with %j is %i', (own, ofTeam, expected) => {
  expect(reservedFor(own, ofTeam)).toBe(expected);
});
