import { describe, expect, it } from 'vitest';
import { GatheredBytes } from '../../../src/domain/gathered-bytes.ts';
import { randomFrom } from '../../support/random.ts';

const bytesOf = (length: number, seed: number): Buffer => {
  const random = randomFrom(seed);
  return Buffer.from(Uint8Array.from({ length }, () => random(256)));
};

describe('gathered bytes', () => {
  it.each([1, 2, 3, 4, 5, 6])('are the chunks in order, for any chunk boundaries (seed %i)', (seed) => {
    const random = randomFrom(seed);
    const content = bytesOf(random(300_000), seed);
    const gathered = new GatheredBytes();
    for (let offset = 0; offset < content.length;) {
      const end = Math.min(content.length, offset + 1 + random([1, 10, 5_000, 70_000][random(4)] ?? 1));
      gathered.add(content.subarray(offset, end));
      offset = end;
    }
    const copy = Buffer.alloc(content.length);
    gathered.copyTo(copy);
    expect([gathered.size, copy.equals(content), content.equals(gathered.take()), gathered.size]).toEqual([
      content.length,
      true,
      true,
      0,
    ]);
  });

  it('are the chunk itself when there is only one chunk', () => {
    const onlyChunk = bytesOf(100, 1);
    const gathered = new GatheredBytes();
    gathered.add(onlyChunk);
    expect(gathered.take()).toBe(onlyChunk);
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
    ['single bytes between large chunks', (index: number) => (index % 2 === 0 ? 1 : 4_097)],
  ])('from %s use few objects and at most twice the bytes', (_what, sizeOf) => {
    const gathered = new GatheredBytes();
    for (let index = 0; index < 20_000; index += 1) gathered.add(Buffer.allocUnsafeSlow(sizeOf(index)));
    const { size, held } = gathered;
    expect(held.objects).toBeLessThanOrEqual(10 + 2 * Math.ceil(size / 4_096));
    expect(held.bytes).toBeLessThanOrEqual(2 * size);
  });
});
