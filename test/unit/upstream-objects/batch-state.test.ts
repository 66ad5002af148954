import { expect, it, vi } from 'vitest';
import { storeState } from '../../../resolvers/operation/upstream-objects.ts';
import type { UpstreamObject } from '../../../src/domain/upstream-objects/upstream-object.ts';

type StateScope = Parameters<typeof storeState>[0];

const BATCH: UpstreamObject = {
  id: 'batch_1',
  kind: 'batch',
  deploymentId: 'd1',
  upstreamId: 'up_1',
  owner: { keyHash: 'k1', teamId: null },
  createdAt: new Date(0),
  purpose: null,
  shown: { id: 'up_1', status: 'in_progress' },
};
const ENDED = { id: 'up_1', status: 'completed', usage: { input_tokens: 3, output_tokens: 2 } };

it('an ended batch is stored as ended only when the records of its spend are committed', async () => {
  const steps: string[] = [];
  const spendStored = vi.fn<() => Promise<boolean>>();
  const scope = {
    platform: {
      stores: { upstreamObjects: { saveState: async () => steps.push('state stored') } },
      gateway: {
        deployment: () => ({ id: 'd1', modelGroup: 'assistant' }),
        recordBatch: async () => steps.push('spend recorded'),
      },
      records: { spendStored },
      clock: { now: () => new Date(1_000) },
    },
    signal: new AbortController().signal,
  } as unknown as StateScope;

  spendStored.mockResolvedValueOnce(false);
  await storeState(scope, BATCH, ENDED);
  expect(steps).toEqual(['spend recorded']);

  spendStored.mockResolvedValueOnce(true);
  await storeState(scope, BATCH, ENDED);
  expect(steps).toEqual(['spend recorded', 'spend recorded', 'state stored']);
});
