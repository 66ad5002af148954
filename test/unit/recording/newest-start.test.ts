import { expect, it } from 'vitest';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import { createNewestStart } from '../../../src/recording/newest-start.ts';

const callAt = (ms: number): CallRecord => ({ spend: { startedAt: new Date(ms) } }) as unknown as CallRecord;

it('is the start of the newest stored or recorded call, and reads the store once', async () => {
  let reads = 0;
  const newest = createNewestStart(async () => {
    reads += 1;
    return new Date(500);
  });
  newest.recorded(callAt(300));
  expect(await newest.ms()).toBe(500);
  newest.recorded(callAt(700));
  newest.recorded(callAt(600));
  expect(await newest.ms()).toBe(700);
  expect(reads).toBe(1);
});

it('is before every time without any call', async () => {
  expect(await createNewestStart(async () => null).ms()).toBe(Number.NEGATIVE_INFINITY);
});

it('is after every time where other processes record calls, and while the store does not answer', async () => {
  expect(await createNewestStart(null).ms()).toBe(Number.POSITIVE_INFINITY);
  let isAvailable = false;
  const newest = createNewestStart(async () => {
    if (!isAvailable) throw new Error('unavailable');
    return new Date(500);
  });
  expect(await newest.ms()).toBe(Number.POSITIVE_INFINITY);
  isAvailable = true;
  expect(await newest.ms()).toBe(500);
});
