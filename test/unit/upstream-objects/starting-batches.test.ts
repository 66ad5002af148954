import { describe, expect, it } from 'vitest';
import { createStartingBatches } from '../../../src/domain/upstream-objects/starting-batches.ts';

const NONE: ReadonlySet<string> = new Set();

describe('batches that are starting', () => {
  it('count those of an owner that began before', () => {
    const batches = createStartingBatches();
    const first = batches.begin(['key:a', 'team:t'], 3);
    const second = batches.begin(['key:b', 'team:t'], 4);
    const third = batches.begin(['key:a', 'team:t'], 5);
    expect([first, second, third].map((one) => one.tokensBefore('team:t', NONE))).toEqual([0, 3, 7]);
    expect([second.tokensBefore('key:b', NONE), third.tokensBefore('key:a', NONE)]).toEqual([0, 3]);
    expect(third.tokensBefore('key:c', NONE)).toBe(0);
  });

  it('count a batch once, whether its row was read or not', () => {
    const batches = createStartingBatches();
    const first = batches.begin(['key:a'], 3);
    const second = batches.begin(['key:a'], 4);
    first.stored('batch_1');
    first.failed();
    expect(second.tokensBefore('key:a', NONE)).toBe(3);
    expect(second.tokensBefore('key:a', new Set(['batch_1']))).toBe(0);
    expect(batches.begin(['key:a'], 1).tokensBefore('key:a', NONE)).toBe(4);
  });

  it('do not count a batch that was not started', () => {
    const batches = createStartingBatches();
    const first = batches.begin(['key:a'], 3);
    const second = batches.begin(['key:a'], 4);
    first.failed();
    expect(second.tokensBefore('key:a', NONE)).toBe(0);
  });
});
