import type { ExecutionResult } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/domain/bus.ts';
import { mapStream } from '../../src/domain/pollable-stream.ts';
import type { TraceChange } from '../../src/domain/traces/trace.ts';
import { type Answer, Follower, InStep } from '../../src/graphql/shared-subscription.ts';
import { createBus } from '../../src/runtime/bus.ts';
import { aSummary } from '../support/seeds.ts';

const QUEUE_LIMIT = 3;

/** Followers of one question over a bus, of whom each reads for as long as it may. */
function aCompany() {
  const bus = createBus({ queueLimit: QUEUE_LIMIT });
  const question: { prompt: boolean | null } = { prompt: true };
  const inStep = new InStep(question);
  const asked: string[] = [];
  let allowed: Error | null = null;
  let answer = (told: ExecutionResult): Answer => told;

  function ask(event: unknown): Answer {
    const { event: change, missed } = event as Delivery<TraceChange>;
    asked.push(change.summary.traceId);
    return answer({ data: { told: `${change.summary.traceId}-${missed}` } });
  }

  function follow(after: string | null = null) {
    const feed = bus.subscribe('trace', { after });
    const events = mapStream(feed, (delivery) => {
      if (allowed !== null) throw allowed;
      return delivery;
    });
    const follower = new Follower(events, ask, inStep);
    const reader = { heard: [] as string[], polls: 0, full: false, ended: null as string | null, read, follower };
    function hear({ data, errors }: ExecutionResult): void {
      reader.heard.push(errors === undefined ? String(data?.['told']) : 'failed');
    }
    function read(): void {
      reader.full = false;
      reader.polls += 1;
      try {
        for (;;) {
          const step = follower.poll();
          if (step === null) return follower.whenReady(read, take);
          if (step.done === true) return void (reader.ended = 'over');
          hear(step.value);
        }
      } catch (error) {
        reader.ended = String(error);
      }
    }
    function take(result: ExecutionResult): boolean {
      hear(result);
      return !reader.full;
    }
    read();
    return reader;
  }

  return {
    bus,
    question,
    asked,
    follow,
    forbid: (error: Error) => void (allowed = error),
    answerWith: (how: typeof answer) => void (answer = how),
    async tell(...traceIds: readonly string[]) {
      for (const traceId of traceIds) bus.publish('trace', { summary: aSummary({ traceId }) });
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('subscribers in step', () => {
  it('are one subscriber to the bus; each event is asked for once and given to all, in order', async () => {
    const { bus, asked, follow, tell } = aCompany();
    const readers = [follow(), follow(), follow()];
    await tell('a', 'b');
    await tell('c');
    expect(readers.map(({ heard, polls }) => [heard, polls])).toEqual(readers.map(() => [['a-0', 'b-0', 'c-0'], 1]));
    expect([asked, bus.subscriberCount()]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('go on without one that can take no more, which reads alone and is then in step again', async () => {
    const { bus, follow, tell } = aCompany();
    const [lively, slow] = [follow(), follow()];
    slow.full = true;
    await tell('a', 'b');
    for (const traceId of ['c', 'd', 'e']) await tell(traceId);
    expect([slow.heard, bus.subscriberCount()]).toEqual([['a-0'], 2]);
    slow.read();
    await tell('f');
    expect(lively.heard).toEqual(['a-0', 'b-0', 'c-0', 'd-0', 'e-0', 'f-0']);
    expect(slow.heard).toEqual(['a-0', 'c-1', 'd-0', 'e-0', 'f-0']);
    expect([slow.polls, bus.subscriberCount()]).toEqual([2, 1]);
  });

  it('take nobody in who has something of their own to read', async () => {
    const { bus, follow, tell } = aCompany();
    const first = bus.subscribe('trace', {});
    await tell('a', 'b');
    const { value: seen } = await first.next();
    const reader = follow();
    // As between an event and the turn in which it is read.
    bus.publish('trace', { summary: aSummary({ traceId: 'c' }) });
    const back = follow(seen.id);
    await tell('d');
    expect([reader.heard, back.heard]).toEqual([
      ['c-0', 'd-0'],
      ['b-0', 'c-0', 'd-0'],
    ]);
  });

  it.each([
    ['is waited for', (told: ExecutionResult) => Promise.resolve(told), '-0'],
    ['has errors', () => ({ errors: [] }), 'failed'],
  ])('each ask alone where an answer %s', async (_what, how, heard) => {
    const { asked, follow, tell, answerWith } = aCompany();
    const readers = [follow(), follow()];
    await tell('a');
    answerWith(how);
    await tell('b');
    answerWith((told) => told);
    await tell('c');
    const shown = heard === 'failed' ? heard : `b${heard}`;
    expect(readers.map((reader) => reader.heard)).toEqual(readers.map(() => ['a-0', shown, 'c-0']));
    expect(asked).toEqual(['a', 'b', 'b', 'b', 'c']);
  });

  it('stay apart while answers have to be waited for', async () => {
    const { bus, question, follow, tell } = aCompany();
    question.prompt = false;
    const readers = [follow(), follow()];
    await tell('a');
    expect([readers.map(({ heard }) => heard), bus.subscriberCount()]).toEqual([[['a-0'], ['a-0']], 2]);
  });

  it('end together when what they follow fails, and leave nothing behind', async () => {
    const { bus, follow, tell, forbid } = aCompany();
    const readers = [follow(), follow()];
    await tell('a');
    forbid(new Error('not for you'));
    await tell('b');
    expect(readers.map(({ heard, ended }) => [heard, ended])).toEqual(
      readers.map(() => [['a-0'], 'Error: not for you']),
    );
    expect(bus.subscriberCount()).toBe(0);
  });

  it('hear what was told before the bus closed, and are over', async () => {
    const { bus, follow, tell } = aCompany();
    const [lively, slow] = [follow(), follow()];
    slow.full = true;
    bus.publish('trace', { summary: aSummary({ traceId: 'a' }) });
    bus.publish('trace', { summary: aSummary({ traceId: 'b' }) });
    bus.close();
    await tell();
    slow.read();
    expect([lively, slow].map(({ heard, ended }) => [heard, ended])).toEqual([
      [['a-0', 'b-0'], 'over'],
      [['a-0', 'b-0'], 'over'],
    ]);
    expect(bus.subscriberCount()).toBe(0);
  });

  it('go on when the first of them leaves, until the last has', async () => {
    const { bus, follow, tell } = aCompany();
    const [first, last] = [follow(), follow()];
    await tell('a');
    await first.follower.return();
    await tell('b');
    expect([first.heard, last.heard]).toEqual([['a-0'], ['a-0', 'b-0']]);
    await last.follower.return();
    expect([bus.subscriberCount(), last.follower.poll()]).toEqual([0, { done: true, value: undefined }]);
  });
});
