import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ByteStream, streamOfBytes } from '../../../src/domain/bytes.ts';
import { createStreamWindow, guardedBytes } from '../../../src/gateway/guardrails/guarded-stream.ts';

const EVENT = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n');

/** Names of the sink's calls. The sink cancels the stream in its first chunk. */
function callsOfCancellingSink(stream: ByteStream): readonly string[] {
  const calls: string[] = [];
  stream.pipe({
    chunk() {
      calls.push('chunk');
      stream.cancel();
      return true;
    },
    done: () => void calls.push('done'),
    fail: () => void calls.push('fail'),
  });
  return calls;
}

it('a guarded stream that its reader cancels in the last chunk ends without `done`', async () => {
  const { bytes, firstReleased } = guardedBytes(streamOfBytes(EVENT), {
    settings: { samplingRate: 1, atEndOnly: true },
    window: createStreamWindow({ isEditable: true, check: async () => null, refusal: (where) => new Error(where) }),
  });
  await firstReleased;
  const calls = callsOfCancellingSink(bytes);
  await nextTurn();
  expect(calls).toEqual(['chunk']);
});

it('a whole body that its reader cancels in its chunk ends without `done`', () => {
  expect(callsOfCancellingSink(streamOfBytes(EVENT))).toEqual(['chunk']);
});
