import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { mapStream } from '../../src/domain/pollable-stream.ts';
import { createBus } from '../../src/runtime/bus.ts';
import { aSummary } from '../support/trace-summary.ts';
import { TraceNamesDocument, TraceUpdatesDocument } from './generated/graphql.ts';
import { eventually, openGraph } from './graph-server.ts';
import { overEventStream, stall } from './subscribers.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

/** A bus that counts the events that each subscriber has read. `readCounts` is in the order of subscription. */
function countingBus(queueLimit: number): {
  readonly bus: ReturnType<typeof createBus>;
  readonly readCounts: number[];
} {
  const bus = createBus({ queueLimit });
  const readCounts: number[] = [];
  return {
    readCounts,
    bus: {
      ...bus,
      subscribe(topic, options) {
        const feed = bus.subscribe(topic, options);
        const index = readCounts.push(0) - 1;
        return mapStream(feed, (delivery) => {
          readCounts[index] = (readCounts[index] ?? 0) + 1;
          return delivery;
        });
      },
    },
  };
}

describe.each([
  ['/graphql', '', undefined],
  ['/graphql as multipart', '', 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0'],
  ['/graphql/stream', '/stream', undefined],
])('a subscriber that does not read, on %s', (_name, path, accept) => {
  it('gets no more than the socket buffers hold, and delays no other subscriber, during 100,000 events', async () => {
    const { bus, readCounts } = countingBus(64);
    graph = await openGraph({ platform: { bus } });
    const stalled = await stall(`${graph.url}${path}`, TraceNamesDocument, accept);
    await eventually(() => bus.subscriberCount() === 1, 'the stalled subscriber');
    const reader = overEventStream(graph.url, TraceUpdatesDocument, {});
    await eventually(() => bus.subscriberCount() === 2, 'the reading subscriber');
    const event = { summary: aSummary({ name: 'x'.repeat(64 * 1024) }) };
    const heapBefore = heapInUse();

    // Publish events at the speed of the reader. Without backpressure the server would buffer 125 MiB for the stalled
    // subscriber.
    for (let published = 50; published <= 2_000; published += 50) {
      for (let index = 0; index < 50; index += 1) bus.publish('trace', event);
      await eventually(() => reader.received.length === published, `event ${published}`);
    }
    // 400 events have 25 MiB, more than the socket buffers hold.
    expect(readCounts[0]).toBeLessThan(400);

    // Publish bursts of events. Events that the reader does not receive in time are dropped and counted.
    for (let batch = 0; batch < 98; batch += 1) {
      for (let index = 0; index < 1_000; index += 1) bus.publish('trace', event);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const receivedOrDropped = (): number =>
      (reader.received as { data: { traceUpdates: { droppedUpdates: number } } }[]).reduce(
        (total, { data }) => total + 1 + data.traceUpdates.droppedUpdates,
        0,
      );
    await eventually(() => receivedOrDropped() === 100_000, 'every event received or counted as dropped');
    reader.received.length = 0;
    expect(readCounts[0]).toBeLessThan(400);
    expect(heapInUse() - heapBefore).toBeLessThan(32 * 1024 * 1024);

    stalled.leave();
    await eventually(() => bus.subscriberCount() === 1, 'the stalled subscriber removed');
    await reader.leave();
  });
});

/** Bytes of live objects on the heap and of memory outside the heap. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
