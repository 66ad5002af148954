import { expect, it } from 'vitest';
import { orderedReads } from '../../../src/runtime/tasks/ordered-reads.ts';

/** Reads that the test resolves through `pending`. `used` has the results that were used. */
function startReads() {
  const pending: PromiseWithResolvers<string>[] = [];
  const used: string[] = [];
  const read = orderedReads(
    () => {
      const result = Promise.withResolvers<string>();
      pending.push(result);
      return result.promise;
    },
    (value) => void used.push(value),
  );
  return { read, pending, used };
}

it('an earlier read that ends after a later read is not used', async () => {
  const { read, pending, used } = startReads();
  const [first, second] = [read(), read()];
  pending[1]?.resolve('second');
  await second;
  pending[0]?.resolve('first');
  await first;
  expect(used).toEqual(['second']);
});

it('all reads that end in their order are used, also after a failed read', async () => {
  const { read, pending, used } = startReads();
  const [first, failed, third] = [read(), read(), read()];
  pending[0]?.resolve('first');
  await first;
  pending[1]?.reject(new Error('away'));
  await expect(failed).rejects.toThrow('away');
  pending[2]?.resolve('third');
  await third;
  expect(used).toEqual(['first', 'third']);
});
