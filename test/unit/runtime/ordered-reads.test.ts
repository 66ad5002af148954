import { expect, it } from 'vitest';
import { orderedReads } from '../../../src/runtime/tasks/ordered-reads.ts';

/** Reads whose results arrive in the order in which the test resolves them. */
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

it('the result of an earlier read does not replace that of a later one', async () => {
  const { read, pending, used } = startReads();
  const [first, second] = [read(), read()];
  pending[1]?.resolve('second');
  await second;
  pending[0]?.resolve('first');
  await first;
  expect(used).toEqual(['second']);
});

it('results that arrive in the order of their reads are all used, also after a failure', async () => {
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
