import { expect, it } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';

/** Calls of a reader of a body of two bytes. With `cancels`, the reader cancels the stream within the chunk. */
function callsOf({ cancels }: { readonly cancels: boolean }): readonly string[] {
  const stream = streamOfBytes(Uint8Array.of(1, 2));
  const calls: string[] = [];
  stream.pipe({
    chunk({ length }) {
      calls.push(`chunk of ${length}`);
      if (cancels) stream.cancel();
      return true;
    },
    done: () => void calls.push('done'),
    fail: () => void calls.push('fail'),
  });
  return calls;
}

it('a whole body ends after its chunk', () => {
  expect(callsOf({ cancels: false })).toEqual(['chunk of 2', 'done']);
});

it('a whole body that its reader cancels within the chunk does not end', () => {
  expect(callsOf({ cancels: true })).toEqual(['chunk of 2']);
});
