import { describe, expect, it } from 'vitest';
import { createPendingRecords } from '../../../src/gateway/accounting/pending-records.ts';

const NEVER = Promise.withResolvers<string | null>().promise;

describe('records that wait for guardrails', () => {
  it('are written with their masked texts, which the end waits for', async () => {
    const pending = createPendingRecords();
    const masked = Promise.withResolvers<string | null>();
    const written: (string | null)[] = [];
    pending.add(masked.promise, (texts) => written.push(texts));
    const finished = pending.finish(60_000);
    expect(written).toEqual([]);
    masked.resolve('masked');
    await finished;
    expect(written).toEqual(['masked']);
  });

  it('are written once and without texts when their guardrails do not answer in time', async () => {
    const pending = createPendingRecords();
    const late = Promise.withResolvers<string | null>();
    const written: (string | null)[] = [];
    pending.add(late.promise, (texts) => written.push(texts));
    pending.add(NEVER, (texts) => written.push(texts));
    await pending.finish(1);
    expect(written).toEqual([null, null]);
    late.resolve('late');
    await late.promise;
    await pending.finish(1);
    expect(written).toEqual([null, null]);
  });
});
