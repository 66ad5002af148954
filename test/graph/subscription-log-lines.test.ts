import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/domain/caller.ts';
import type { ChatDelta } from '../../src/domain/chat/chat.ts';
import { Unauthenticated, UpstreamFailed } from '../../src/domain/errors.ts';
import { traceId } from '../ports/samples.ts';
import { ChatStreamDocument, TraceUpdatesDocument } from './generated/graphql.ts';
import { eventually, openGraph, scriptedGateway } from './graph-server.ts';
import { TRANSPORTS } from './subscribers.ts';

// Log lines of subscriptions that end with an error. Equal lines are counted for a second before they are written, so
// the tests run at the same time, each with its own graph.

const ADMIN: Caller = { role: 'proxy_admin', keyHash: 'admin', key: null, teamId: null, userId: null };

type Graph = Awaited<ReturnType<typeof openGraph>>;

async function withGraph(
  options: NonNullable<Parameters<typeof openGraph>[0]>,
  run: (graph: Graph) => Promise<void>,
): Promise<void> {
  const graph = await openGraph(options);
  try {
    await run(graph);
  } finally {
    await graph.close();
  }
}

async function* chatThatFails(error: Error): AsyncIterableIterator<ChatDelta> {
  yield { kind: 'text', text: 'Hel' };
  throw error;
}

describe('traceUpdates', () => {
  it.concurrent.each(TRANSPORTS)(
    'over %s logs one line for all subscriptions that end for the same reason',
    async (_name, subscribe) => {
      let blocked = false;
      const current = (): Caller => {
        if (blocked) throw new Unauthenticated('Blocked Key.', 'blocked');
        return ADMIN;
      };
      const keyRing = { identify: () => ADMIN, current, markStale() {}, evict() {}, refresh: async () => {} };
      await withGraph({ platform: { keyRing } }, async (graph) => {
        const SUBSCRIPTION_COUNT = 30;
        const readers = Array.from({ length: SUBSCRIPTION_COUNT }, (_, number) =>
          subscribe(graph.url, TraceUpdatesDocument, { traceId: traceId(number + 1) }),
        );
        await eventually(() => graph.bus.subscriberCount() === SUBSCRIPTION_COUNT, 'all subscribers');
        blocked = true;
        graph.checkCallers();
        await Promise.all(readers.map(({ ended }) => ended));
        await eventually(() => graph.lines.length > 0, 'a log line');
        expect(graph.lines).toEqual([
          {
            level: 'warn',
            event: 'live feeds refused',
            facts: {
              requestId: expect.any(String),
              code: 'UNAUTHENTICATED',
              reason: 'Blocked Key.',
              count: SUBSCRIPTION_COUNT,
            },
          },
        ]);
        await Promise.all(readers.map((reader) => reader.leave()));
      });
    },
  );
});

describe.each([
  [
    'an unexpected error',
    new Error('password is hunter2'),
    { message: 'Unexpected error.', extensions: { code: 'INTERNAL' } },
  ],
  [
    'a domain error',
    new UpstreamFailed('Overloaded.', { provider: 'openai', upstreamStatus: 529 }),
    { message: 'Overloaded.', extensions: { code: 'UPSTREAM_FAILED' } },
  ],
])('chatStream whose source throws %s midway', (_case, error, expected) => {
  it.concurrent.each(TRANSPORTS)('ends with one error, and logs it, over %s', async (_name, subscribe) => {
    await withGraph({ gateway: scriptedGateway(() => chatThatFails(error)) }, async (graph) => {
      const subscriber = subscribe(graph.url, ChatStreamDocument, {
        input: { model: 'demo', messages: [{ role: 'USER', content: 'Hello' }] },
      });
      await subscriber.ended;
      expect(subscriber.received).toHaveLength(2);
      expect(subscriber.received[1]).toMatchObject({ errors: [expected] });
      expect(JSON.stringify(subscriber.received)).not.toContain('hunter2');
      await eventually(() => graph.lines.length === 1, 'a log line');
      await subscriber.leave();
    });
  });
});
