import { expect, it } from 'vitest';
import { retryLostRead } from '../../../src/persistence/database/faults.ts';

const withCode = (code: string): Error => Object.assign(new Error('failed'), { code });

/** A read that fails with `failures`, one after another, and then returns `found`. */
function readAfter(failures: readonly Error[]) {
  const left = [...failures];
  return (): Promise<string> => {
    const failure = left.shift();
    return failure === undefined ? Promise.resolve('found') : Promise.reject(failure);
  };
}

it.each([
  ['a reset', withCode('ECONNRESET')],
  ['a closed pipe', withCode('EPIPE')],
  ['a failure of class 08', withCode('08006')],
  ['a shutdown of the server', withCode('57P01')],
  ['the end of a connection', new Error('Connection terminated')],
  ['an unexpected end', new Error('Connection terminated unexpectedly')],
  ['a query after a failure', new Error('Client has encountered a connection error and is not queryable')],
  ['a failure with such a cause', new Error('failed', { cause: withCode('ECONNRESET') })],
])('a read is retried twice after %s', async (_what, lost) => {
  expect(await retryLostRead(readAfter([lost, lost]))).toBe('found');
  await expect(retryLostRead(readAfter([lost, lost, lost]))).rejects.toBe(lost);
});

it.each([
  ['a refused connection', withCode('ECONNREFUSED')],
  ['a refused statement', withCode('23505')],
  ['a client that this process closed', new Error('Client was closed and is not queryable')],
  ['a timeout of the pool', new Error('timeout exceeded when trying to connect')],
])('a read is not retried after %s', async (_what, failure) => {
  await expect(retryLostRead(readAfter([failure]))).rejects.toBe(failure);
});
