import { expect, it, vi } from 'vitest';
import { storeState } from '../../../resolvers/operation/object-states.ts';
import { NO_OPEN_COSTS } from '../../support/no-open-costs.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
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
        openCosts: NO_OPEN_COSTS,
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

it.each([
  [404, 2, 'gone'],
  [404, 1, 'read again'],
  [503, 30, 'gone'],
  [503, 29, 'read again'],
])('a batch whose output file answers %i at an age of %i days: the file is %s', async (status, days, expected) => {
  const steps: string[] = [];
  const failure = new UpstreamFailed('failed', { provider: 'azure', upstreamStatus: status });
  const scope = {
    platform: {
      stores: { upstreamObjects: { saveState: async () => steps.push('state stored') } },
      gateway: {
        openCosts: NO_OPEN_COSTS,
        deployment: () => ({ id: 'd1', modelGroup: 'assistant' }),
        pass: () => Promise.reject(failure),
        recordUncharged: ({ reason }: { reason: string }) => steps.push(reason),
      },
      records: { spendStored: () => Promise.resolve(true) },
      clock: { now: () => new Date(days * 86_400_000) },
    },
    signal: new AbortController().signal,
  } as unknown as StateScope;
  await storeState(scope, BATCH, { id: 'up_1', status: 'completed', output_file_id: 'file-1' });
  expect(steps).toEqual(expected === 'gone' ? ['no output file', 'state stored'] : []);
});
