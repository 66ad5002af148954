import { expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import type { Stores } from '../../../resolvers/operation/stores.ts';

it('contents of spans are loaded at most 8 at once; a failed read fails its own span only', async () => {
  let running = 0;
  let mostRunning = 0;
  const failure = new Error('unreadable');
  const stores = {
    traces: {
      async findSpan(_traces: unknown, spanId: string) {
        running += 1;
        mostRunning = Math.max(mostRunning, running);
        await new Promise(setImmediate);
        running -= 1;
        if (spanId === '3') throw failure;
        return { spanId };
      },
    },
  } as unknown as Stores;
  const { contentBySpan } = createLoaders(stores, null);
  const load = (index: number) => contentBySpan.load({ traceId: 't', traceRef: 'r', spanId: String(index) });
  const firstLoads = Array.from({ length: 50 }, (_, index) => load(index));
  const settledFirst = Promise.allSettled(firstLoads);
  await firstLoads[0];
  const settledLater = Promise.allSettled(Array.from({ length: 10 }, (_, index) => load(50 + index)));
  const spans = [...(await settledFirst), ...(await settledLater)].map((result) =>
    result.status === 'fulfilled' ? result.value?.spanId : (result.reason as unknown),
  );
  expect(spans).toEqual(Array.from({ length: 60 }, (_, index) => (index === 3 ? failure : String(index))));
  expect(mostRunning).toBe(8);
});
