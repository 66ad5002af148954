import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import { ActivityDocument, EndpointActivityDocument, GatewayActivityDocument } from './generated/graphql.ts';
import { overEventStream } from './subscribers.ts';
import { POLLING } from '../support/polling.ts';
import { awayFromMidnight } from '../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

let app: TestApp;
let userKey = '';
let plainKey = '';
const today = (): string => new Date().toISOString().slice(0, 10);
const monthAgo = (): string => new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);

async function graph(query: { toString(): string }, variables: object = {}, key = app.adminKey): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await app.call('POST', '/graphql', { query: query.toString(), variables }, headers);
  return (await answer.json()) as Answer;
}

async function chat(key: string, model = 'demo'): Promise<void> {
  const body = { model, messages: [{ role: 'user', content: 'hi' }] };
  const answer = await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  await answer.arrayBuffer();
}

beforeAll(async () => {
  app = await startApp({ config: { general_settings: { demo_model: true, proxy_batch_write_at: 0.1 } } });
  const newKey = async (body: object): Promise<string> =>
    ((await (await app.call('POST', '/key/generate', body)).json()) as { readonly key: string }).key;
  userKey = await newKey({ user_id: 'user-1' });
  plainKey = await newKey({});
  await chat(userKey);
  await chat(plainKey);
  await chat(plainKey, 'nope');
  await (await app.call('POST', '/mcp', {})).arrayBuffer();
  await vi.waitFor(async () => {
    const { data } = await graph(GatewayActivityDocument);
    const { succeeded, failed } = data['gatewayActivity'] as { readonly succeeded: number; readonly failed: number };
    if (succeeded + failed !== 4) throw new Error('The counts are not committed.');
  }, POLLING);
});
afterAll(() => app.stop());

describe('gatewayActivity', () => {
  const chats = { category: 'LLM', route: '/chat/completions', succeeded: 2, failed: 1 };
  const mcpCalls = { category: 'MCP', route: '/mcp', succeeded: 0, failed: 1 };

  it('counts requests by date, category and route', async () => {
    const { data, errors } = await graph(GatewayActivityDocument);
    expect(errors).toBeUndefined();
    const date = today();
    expect(data['gatewayActivity']).toEqual({
      startDate: monthAgo(),
      endDate: date,
      succeeded: 2,
      failed: 2,
      byDate: [{ date, category: null, succeeded: 2, failed: 2 }],
      byCategory: [
        { category: 'LLM', succeeded: 2, failed: 1 },
        { category: 'MCP', succeeded: 0, failed: 1 },
      ],
      byRoute: [
        { date: null, ...chats },
        { date: null, ...mcpCalls },
      ],
      series: [
        { date, ...chats },
        { date, ...mcpCalls },
      ],
    });
  });

  it('counts only the given categories and routes', async () => {
    const { data } = await graph(GatewayActivityDocument, { categories: ['MCP', 'A2A'] });
    expect(data['gatewayActivity']).toMatchObject({
      succeeded: 0,
      failed: 1,
      series: [{ date: today(), ...mcpCalls }],
    });
    const { data: routed } = await graph(GatewayActivityDocument, { routes: ['/chat/completions'] });
    expect(routed['gatewayActivity']).toMatchObject({ succeeded: 2, failed: 1 });
  });

  it.each([
    ['zzz', '2026-01-01', 'Invalid date'],
    ['2026-01-02', '2026-01-01', 'after the last one'],
    ['2026-01-01', '2027-01-02', 'at most 366 days'],
  ])('refuses the period from %s to %s', async (startDate, endDate, message) => {
    for (const query of [GatewayActivityDocument, EndpointActivityDocument]) {
      const { errors } = await graph(query, { startDate, endDate });
      expect(errors?.[0]).toMatchObject({
        message: expect.stringContaining(message),
        extensions: { code: 'INVALID_INPUT' },
      });
    }
  });

  it('allows a period of 366 days', async () => {
    const { errors } = await graph(GatewayActivityDocument, { startDate: '2026-01-01', endDate: '2027-01-01' });
    expect(errors).toBeUndefined();
  });

  // A series costs 3,001 fields: one for itself, and five for each of 20 routes on 30 days.
  it('limits the number of series of a query', async () => {
    const query = (count: number): string => {
      const series = (_: unknown, index: number) => `s${index}: series { date category route succeeded failed }`;
      return `{ gatewayActivity { ${Array.from({ length: count }, series).join(' ')} } }`;
    };
    expect((await graph(query(9))).errors).toBeUndefined();
    expect(await graph(query(10))).toEqual({
      errors: [
        {
          message: 'The operation may cause 30011 fields; the limit is 30000. Ask for smaller pages.',
          extensions: { code: 'TOO_LARGE' },
        },
      ],
    });
  });

  it('is refused for a caller that is not an administrator', async () => {
    const { data, errors } = await graph(GatewayActivityDocument, {}, userKey);
    expect([data, errors?.[0]?.extensions.code]).toEqual([{ gatewayActivity: null }, 'FORBIDDEN']);
  });
});

describe('endpointActivity', () => {
  it('has tokens, spend and results by endpoint and day', async () => {
    const { data, errors } = await graph(EndpointActivityDocument);
    expect(errors).toBeUndefined();
    const [chats, ...others] = data['endpointActivity'] as readonly Readonly<Record<string, unknown>>[];
    expect(others).toEqual([]);
    const sums = chats?.['sums'] as Readonly<Record<string, unknown>>;
    expect(sums).toMatchObject({ succeeded: 2, cacheReadTokens: 0, costUsd: '0' });
    expect(Number(sums['inputTokens'])).toBeGreaterThan(0);
    expect(chats).toMatchObject({ endpoint: '/chat/completions', series: [{ date: today(), sums }] });
    expect(Date.now() - Date.parse(String(chats?.['lastSeenAt']))).toBeLessThan(60_000);
  });

  it('shows a user their own calls only, and refuses a key without a user', async () => {
    const { data } = await graph(EndpointActivityDocument, {}, userKey);
    expect(data['endpointActivity']).toMatchObject([
      { endpoint: '/chat/completions', sums: { succeeded: 1, failed: 0 } },
    ]);
    const { errors } = await graph(EndpointActivityDocument, {}, plainKey);
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('activity', () => {
  it('sends updates while requests are answered', async () => {
    const follower = overEventStream(`${app.url}/graphql`, ActivityDocument, {}, app.adminKey);
    try {
      // The first update may include counts of earlier tests.
      const chatIsCounted = async (): Promise<void> => {
        await chat(plainKey);
        const latest = follower.received.at(-1) as { readonly data: { readonly activity: object } } | undefined;
        expect(latest?.data.activity).toMatchObject({
          droppedUpdates: 0,
          counts: [{ date: null, category: 'LLM', route: '/chat/completions', failed: 0 }],
        });
      };
      await vi.waitFor(chatIsCounted, { ...POLLING, interval: 200 });
    } finally {
      await follower.leave();
    }
  });

  it('is refused for a caller that is not an administrator', async () => {
    const refused = overEventStream(`${app.url}/graphql`, ActivityDocument, {}, userKey);
    await refused.ended;
    expect(JSON.stringify(refused.received)).toContain('FORBIDDEN');
  });
});
