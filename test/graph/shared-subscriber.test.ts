import type { ExecutionResult } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/domain/bus.ts';
import { mapStream } from '../../src/domain/pollable-stream.ts';
import type { TraceChange } from '../../src/domain/traces/trace.ts';
import { type EventResult, Subscriber, SubscriberGroup } from '../../src/graphql/shared-subscriptions/subscriber.ts';
import { createBus } from '../../src/runtime/bus.ts';
import { aSummary } from '../support/trace-summary.ts';

const QUEUE_LIMIT = 3;

/**
 * Subscribers of one operation over a bus. Each reads until its buffer is full. A received event is noted as its trace
 * id and the number of events that were missed before it: `c-1`.
 */
function aGroup() {
  const bus = createBus({ queueLimit: QUEUE_LIMIT });
  const operation: { synchronous: boolean | null } = { synchronous: true };
  const group = new SubscriberGroup(operation);
  const executed: string[] = [];
  let failure: Error | null = null;
  let respond = (result: ExecutionResult): EventResult => result;

  function execute(event: unknown): EventResult {
    const { event: change, missed } = event as Delivery<TraceChange>;
    executed.push(change.summary.traceId);
    return respond({ data: { trace: `${change.summary.traceId}-${missed}` } });
  }

  function subscribe(after: string | null = null) {
    const feed = bus.subscribe('trace', { after });
    const events = mapStream(feed, (delivery) => {
      if (failure !== null) throw failure;
      return delivery;
    });
    const subscriber = new Subscriber(events, execute, group);
    const reader = { received: [] as string[], reads: 0, full: false, ended: null as string | null, read, subscriber };
    function receive({ data, errors }: ExecutionResult): void {
      reader.received.push(errors === undefined ? String(data?.['trace']) : 'failed');
    }
    function read(): void {
      reader.full = false;
      reader.reads += 1;
      try {
        for (;;) {
          const step = subscriber.poll();
          if (step === null) return subscriber.whenReady(read, take);
          if (step.done === true) {
            reader.ended = 'done';
            return;
          }
          receive(step.value);
        }
      } catch (error) {
        reader.ended = String(error);
      }
    }
    function take(result: ExecutionResult): boolean {
      receive(result);
      return !reader.full;
    }
    read();
    return reader;
  }

  return {
    bus,
    operation,
    executed,
    subscribe,
    failWith(error: Error) {
      failure = error;
    },
    respondWith(responder: typeof respond) {
      respond = responder;
    },
    async publish(...traceIds: readonly string[]) {
      for (const traceId of traceIds) bus.publish('trace', { summary: aSummary({ traceId }) });
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('a group of subscribers', () => {
  it('has one subscription of the bus, and executes each event once for all members, in order', async () => {
    const { bus, executed, subscribe, publish } = aGroup();
    const readers = [subscribe(), subscribe(), subscribe()];
    await publish('a', 'b');
    await publish('c');
    expect(readers.map(({ received, reads }) => [received, reads])).toEqual(
      readers.map(() => [['a-0', 'b-0', 'c-0'], 1]),
    );
    expect([executed, bus.subscriberCount()]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('continues without a member whose buffer is full; the member reads alone and joins again', async () => {
    const { bus, subscribe, publish } = aGroup();
    const [fast, slow] = [subscribe(), subscribe()];
    slow.full = true;
    await publish('a', 'b');
    for (const traceId of ['c', 'd', 'e']) await publish(traceId);
    expect([slow.received, bus.subscriberCount()]).toEqual([['a-0'], 2]);
    slow.read();
    await publish('f');
    expect(fast.received).toEqual(['a-0', 'b-0', 'c-0', 'd-0', 'e-0', 'f-0']);
    // The queue holds three events: `b` was dropped for `e`.
    expect(slow.received).toEqual(['a-0', 'c-1', 'd-0', 'e-0', 'f-0']);
    expect([slow.reads, bus.subscriberCount()]).toEqual([2, 1]);
  });

  it('does not admit a subscriber with pending events', async () => {
    const { bus, subscribe, publish } = aGroup();
    const first = bus.subscribe('trace', {});
    await publish('a', 'b');
    const { value: delivery } = await first.next();
    const reader = subscribe();
    // The group has not read this event yet.
    bus.publish('trace', { summary: aSummary({ traceId: 'c' }) });
    const resumed = subscribe(delivery.id);
    await publish('d');
    expect([reader.received, resumed.received]).toEqual([
      ['c-0', 'd-0'],
      ['b-0', 'c-0', 'd-0'],
    ]);
  });

  it.each([
    ['is a promise', (result: ExecutionResult) => Promise.resolve(result), 'b-0'],
    ['has errors', () => ({ errors: [] }), 'failed'],
  ])('executes an event for each member when the result %s', async (_what, responder, expected) => {
    const { executed, subscribe, publish, respondWith } = aGroup();
    const readers = [subscribe(), subscribe()];
    await publish('a');
    respondWith(responder);
    await publish('b');
    respondWith((result) => result);
    await publish('c');
    expect(readers.map((reader) => reader.received)).toEqual(readers.map(() => ['a-0', expected, 'c-0']));
    // The group executes `b` once, and then each of the two members does.
    expect(executed).toEqual(['a', 'b', 'b', 'b', 'c']);
  });

  it('has no members while results are promises', async () => {
    const { bus, operation, subscribe, publish } = aGroup();
    operation.synchronous = false;
    const readers = [subscribe(), subscribe()];
    await publish('a');
    expect([readers.map(({ received }) => received), bus.subscriberCount()]).toEqual([[['a-0'], ['a-0']], 2]);
  });

  it('ends all members and closes its stream when the stream fails', async () => {
    const { bus, subscribe, publish, failWith } = aGroup();
    const readers = [subscribe(), subscribe()];
    await publish('a');
    failWith(new Error('not for you'));
    await publish('b');
    expect(readers.map(({ received, ended }) => [received, ended])).toEqual(
      readers.map(() => [['a-0'], 'Error: not for you']),
    );
    expect(bus.subscriberCount()).toBe(0);
  });

  it('delivers events published before the bus closed, then ends', async () => {
    const { bus, subscribe, publish } = aGroup();
    const [fast, slow] = [subscribe(), subscribe()];
    slow.full = true;
    bus.publish('trace', { summary: aSummary({ traceId: 'a' }) });
    bus.publish('trace', { summary: aSummary({ traceId: 'b' }) });
    bus.close();
    await publish();
    slow.read();
    expect([fast, slow].map(({ received, ended }) => [received, ended])).toEqual([
      [['a-0', 'b-0'], 'done'],
      [['a-0', 'b-0'], 'done'],
    ]);
    expect(bus.subscriberCount()).toBe(0);
  });

  it('ends when its last member leaves', async () => {
    const { bus, subscribe, publish } = aGroup();
    const [first, last] = [subscribe(), subscribe()];
    await publish('a');
    await first.subscriber.return();
    await publish('b');
    expect([first.received, last.received]).toEqual([['a-0'], ['a-0', 'b-0']]);
    await last.subscriber.return();
    expect([bus.subscriberCount(), last.subscriber.poll()]).toEqual([0, { done: true, value: undefined }]);
  });
});
