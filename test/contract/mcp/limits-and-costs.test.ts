import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type McpTestUpstream, startMcpUpstream } from '../../support/mcp-upstream.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;

let app: TestApp;
let first: McpTestUpstream;
let second: McpTestUpstream;

beforeAll(async () => {
  [first, second] = [await startMcpUpstream(), await startMcpUpstream()];
  const server = (url: string, members: Json = {}): Json => ({
    url,
    transport: 'http',
    allow_all_keys: true,
    mcp_info: { mcp_server_cost_info: { default_cost_per_query: 0.5 } },
    ...members,
  });
  app = await startApp({
    config: {
      mcp_servers: {
        one: server(first.url, { disallowed_tools: ['echo'] }),
        two: server(second.url, { rpm: 2 }),
        three: server(second.url),
      },
    },
  });
}, 60_000);
afterAll(async () => {
  await app.stop();
  await first.stop();
  await second.stop();
});

async function newKey(body: Json): Promise<string> {
  const answer = (await (await app.call('POST', '/key/generate', body)).json()) as { readonly key: string };
  return answer.key;
}

/** Text of the result of a call over the protocol. A refusal is a result, too. */
async function call(
  key: string,
  name: string,
  { signal, headers = {} }: { readonly signal?: AbortSignal; readonly headers?: Record<string, string> } = {},
): Promise<string> {
  const params = { name, arguments: name.endsWith('echo') ? { text: 'hi' } : {} };
  const answer = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    ...(signal === undefined ? {} : { signal }),
  });
  const [, data = '{}'] = /^data: (.*)$/m.exec(await answer.text()) ?? [];
  const { result } = JSON.parse(data) as {
    readonly result?: { readonly content: readonly { readonly text: string }[] };
  };
  return result?.content[0]?.text ?? data;
}

const ECHOED = 'echo: hi';
const LIMITED = expect.stringContaining('Rate limit exceeded for api_key') as string;

const listings = (): number =>
  [first, second].flatMap(({ received }) => received).filter(({ method }) => method === 'tools/list').length;

describe('a call of a tool without a prefix', () => {
  it('is refused by the limits and budgets of the key before servers are asked for their tools', async () => {
    const limited = await newKey({ rpm_limit: 1 });
    expect(await call(limited, 'echo')).toBe(ECHOED);
    const before = listings();
    expect(await call(limited, 'echo')).toEqual(LIMITED);
    expect(await call(await newKey({ max_budget: 0 }), 'echo')).toContain('Budget has been exceeded');
    expect(listings()).toBe(before);
  });

  it('counts once for its key, and for the server that has the tool', async () => {
    const key = await newKey({ rpm_limit: 3 });
    expect(await call(key, 'echo')).toBe(ECHOED);
    // The limit of the server is 2 calls, of which the test before has used one.
    expect(await call(key, 'echo')).toContain('Rate limit exceeded for mcp_server: ');
    expect(await call(key, 'one-fail')).toBe('it failed');
    expect(await call(key, 'one-fail')).toEqual(LIMITED);
  });
});

it('a call that its client cancels after it was sent costs its price', async () => {
  const key = await newKey({});
  const client = new AbortController();
  const calling = call(key, 'one-slow', { signal: client.signal });
  await vi.waitFor(() => expect(first.slow.waiting).toBe(1), POLLING);
  client.abort();
  await expect(calling).rejects.toThrow(/abort/);
  const spend = async (): Promise<unknown> => {
    const answer = await app.call('GET', `/key/info?key=${key}`);
    return ((await answer.json()) as { readonly info: { readonly spend: number } }).info.spend;
  };
  await expect.poll(spend, POLLING).toBe(0.5);
});

describe('a call of a tool for a customer', () => {
  const forCustomer = (key: string, id: string, header = 'x-litellm-end-user-id') =>
    call(key, 'one-fail', { headers: { [header]: id } });
  async function customer(members: Json): Promise<void> {
    expect((await app.call('POST', '/customer/new', members)).status).toBe(200);
  }
  const received = (): number => first.received.filter(({ method }) => method === 'tools/call').length;

  it('is refused when the customer is blocked', async () => {
    await customer({ user_id: 'blocked', blocked: true });
    const key = await newKey({});
    const before = received();
    for (const header of ['x-litellm-end-user-id', 'x-litellm-customer-id'])
      expect(await forCustomer(key, 'blocked', header)).toContain('End user=blocked is blocked.');
    expect(received()).toBe(before);
  });

  it('counts in the limits of the customer', async () => {
    await customer({ user_id: 'limited', rpm_limit: 1 });
    expect(await forCustomer(await newKey({}), 'limited')).toBe('it failed');
    expect(await forCustomer(await newKey({}), 'limited')).toContain('Rate limit exceeded for end_user: limited.');
    expect(await forCustomer(await newKey({}), 'other')).toBe('it failed');
  });

  it('counts in the budgets of tags that a header names', async () => {
    expect((await app.call('POST', '/tag/new', { name: 'closed', max_budget: 0 })).status).toBe(200);
    const tagged = (tags: string) =>
      newKey({}).then((key) => call(key, 'one-fail', { headers: { 'x-litellm-tags': tags } }));
    expect(await tagged('other, closed')).toContain('Tag=closed');
    expect(await tagged('other')).toBe('it failed');
  });

  it('counts in the budget of the customer, and in its spend', async () => {
    await customer({ user_id: 'poor', max_budget: 0.4 });
    const key = await newKey({});
    // Only calls of tools that succeed are priced.
    const paid = () => call(key, 'three-echo', { headers: { 'x-litellm-end-user-id': 'poor' } });
    const answers = [await paid(), await paid()];
    expect(answers[0]).toBe(ECHOED);
    expect(answers[1]).toContain('End User=poor over budget. Spend=0.5, Budget=0.4');
    const spend = async (): Promise<unknown> => {
      const answer = await app.call('GET', '/customer/info?end_user_id=poor');
      return ((await answer.json()) as { readonly spend: number }).spend;
    };
    await expect.poll(spend, POLLING).toBe(0.5);
  });
});
