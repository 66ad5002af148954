import { describe, expect, it } from 'vitest';
import { GatheredBytes } from '../../../src/domain/gathered-bytes.ts';
import { randomFrom } from '../../support/random.ts';

const bytesOf = (length: number, seed: number): Buffer => {
  const below = randomFrom(seed);
  return Buffer.from(Uint8Array.from({ length }, () => below(256)));
};

describe('gathered bytes', () => {
  it.each([1, 2, 3, 4, 5, 6])('are the chunks in order, for any chunk boundaries (seed %i)', (seed) => {
    const below = randomFrom(seed);
    const sent = bytesOf(below(300_000), seed);
    const gathered = new GatheredBytes();
    for (let at = 0; at < sent.length;) {
      const end = Math.min(sent.length, at + 1 + below([1, 10, 5_000, 70_000][below(4)] ?? 1));
      gathered.add(sent.subarray(at, end));
      at = end;
    }
    const copy = Buffer.alloc(sent.length);
    gathered.copyTo(copy);
    expect([gathered.size, copy.equals(sent), sent.equals(gathered.take()), gathered.size]).toEqual([
      sent.length,
      true,
      true,
      0,
    ]);
  });

  it('are the chunk itself when there is only one', () => {
    const only = bytesOf(100, 1);
    const gathered = new GatheredBytes();
    gathered.add(only);
    expect(gathered.take()).toBe(only);
  });

  it('are empty before the first chunk and after a drop', () => {
    const gathered = new GatheredBytes();
    expect(gathered.take()).toEqual(Buffer.alloc(0));
    gathered.add(Buffer.from('a'));
    gathered.add(Buffer.from('b'));
    gathered.drop();
    gathered.add(Buffer.from('c'));
    expect(gathered.take()).toEqual(Buffer.from('c'));
  });

  it.each([
    ['single bytes', () => 1],
    ['single bytes between large chunks', (nth: number) => (nth % 2 === 0 ? 1 : 4_097)],
  ])('of %s use few objects and at most twice the bytes', (_what, sizeOf) => {
    const gathered = new GatheredBytes();
    for (let nth = 0; nth < 20_000; nth += 1) gathered.add(Buffer.allocUnsafeSlow(sizeOf(nth)));
    const { size, held } = gathered;
    expect(held.objects).toBeLessThanOrEqual(10 + 2 * Math.ceil(size / 4_096));
    expect(held.bytes).toBeLessThanOrEqual(2 * size);
  });
});
