import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { TypedDocumentString } from './generated/graphql.ts';
import { overEventStream, type Subscriber } from './subscribers.ts';
import { POLLING } from '../support/polling.ts';

const SECRET = 'webhook-secret';

let app: TestApp;
let upstream: FaultServer;
let key: string;
let otherKey: string;
let launchCount = 0;
/** States that the provider reports in order. The last one repeats. A number is an HTTP status of a failed poll. */
let states: string[] = [];
const subscribers: Subscriber[] = [];

async function newKey(settings: Record<string, unknown> = {}): Promise<string> {
  const response = await app.call('POST', '/key/generate', settings);
  return ((await response.json()) as { readonly key: string }).key;
}

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({
    env: {
      CODEAGENT_API_BASE: upstream.url,
      CODEAGENT_API_KEY: 'agent-key',
      CODEAGENT_WEBHOOK_SECRET: SECRET,
    },
    config: { general_settings: { coding_agent_poll_seconds: 0.02 } },
  });
  key = await newKey();
  otherKey = await newKey();
});

beforeEach(() => {
  states = ['RUNNING'];
  upstream.answer((response, _socket, { method, path }) => {
    response.setHeader('content-type', 'application/json');
    const [, , , id] = path.split('/');
    if (method === 'POST') {
      launchCount += 1;
      return response.end(JSON.stringify({ id: `bc_${launchCount}`, status: 'CREATING' }));
    }
    const [status = ''] = states.length > 1 ? states.splice(0, 1) : states;
    response.statusCode = Number(status) || 200;
    return response.end(JSON.stringify(response.statusCode === 200 ? { id, status } : { error: 'failed' }));
  });
});

afterEach(async () => {
  await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.leave()));
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function launch(): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await app.call('POST', '/codeagent/v0/agents', { prompt: { text: 'go' } }, headers);
  return ((await answer.json()) as { readonly id: string }).id;
}

const STATUS = new TypedDocumentString<unknown, { id: string }>(
  'subscription($id: ID!) { codingAgentStatus(id: $id) { agentId status } }',
);

function follow(id: string, subscriberKey = key): Subscriber {
  const subscriber = overEventStream(`${app.url}/graphql`, STATUS, { id }, subscriberKey);
  subscribers.push(subscriber);
  return subscriber;
}

const statusEvents = (id: string, ...statuses: readonly string[]) =>
  statuses.map((status) => ({ data: { codingAgentStatus: { agentId: id, status } } }));

const pollCount = (id: string): number =>
  upstream.received.filter(({ method, path }) => method === 'GET' && path === `/v0/agents/${id}`).length;

const sign = (body: string): string => `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

const webhook = (body: string, signature: string): Promise<Response> =>
  fetch(`${app.url}/codeagent/webhook`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-webhook-signature': signature },
  });

describe('codingAgentStatus', () => {
  it('sends the current state and each later state, and ends after a final state', async () => {
    const id = await launch();
    states = ['CREATING', 'RUNNING', 'RUNNING', '503', 'FINISHED'];
    const subscriber = follow(id);
    await subscriber.ended;
    expect(subscriber.received).toEqual(statusEvents(id, 'CREATING', 'RUNNING', 'FINISHED'));
    expect(pollCount(id)).toBe(5);
    // The agent has ended: the provider is not polled again.
    const lateSubscriber = follow(id);
    await lateSubscriber.ended;
    expect([lateSubscriber.received, pollCount(id)]).toEqual([statusEvents(id, 'FINISHED'), 5]);
  });

  it('polls once for all subscribers', async () => {
    const id = await launch();
    const [subscriber, adminSubscriber] = [follow(id), follow(id, app.adminKey)];
    await vi.waitFor(
      () => expect([subscriber.received.length, adminSubscriber.received.length]).toEqual([2, 2]),
      POLLING,
    );
    states = ['RUNNING', 'RUNNING', 'FINISHED'];
    const pollsBefore = pollCount(id);
    await Promise.all([subscriber.ended, adminSubscriber.ended]);
    expect([subscriber.received, adminSubscriber.received]).toEqual([
      statusEvents(id, 'CREATING', 'RUNNING', 'FINISHED'),
      statusEvents(id, 'CREATING', 'RUNNING', 'FINISHED'),
    ]);
    // One more poll may have been in progress already.
    expect(pollCount(id) - pollsBefore).toBeLessThanOrEqual(4);
  });

  it('ends with DELETED when the provider no longer has the agent', async () => {
    const id = await launch();
    states = ['404'];
    const subscriber = follow(id);
    await subscriber.ended;
    expect(subscriber.received).toEqual(statusEvents(id, 'CREATING', 'DELETED'));
  });

  it('ends with DELETED when the agent is deleted through the gateway', async () => {
    const id = await launch();
    const subscriber = follow(id);
    await vi.waitFor(() => expect(subscriber.received).toHaveLength(2), POLLING);
    const headers = { authorization: `Bearer ${key}` };
    expect((await app.call('DELETE', `/codeagent/v0/agents/${id}`, undefined, headers)).status).toBe(200);
    await subscriber.ended;
    expect(subscriber.received).toEqual(statusEvents(id, 'CREATING', 'RUNNING', 'DELETED'));
  });

  it('is refused for an agent of another key', async () => {
    const id = await launch();
    const subscriber = follow(id, otherKey);
    await subscriber.ended;
    expect(subscriber.received).toMatchObject([{ errors: [{ extensions: { code: 'NOT_FOUND' } }] }]);
    expect(pollCount(id)).toBe(0);
  });

  it('sends the state of a signed webhook message immediately', async () => {
    const id = await launch();
    const subscriber = follow(id);
    await vi.waitFor(() => expect(subscriber.received).toHaveLength(2), POLLING);
    const body = JSON.stringify({ event: 'statusChange', id, status: 'FINISHED' });
    const answer = await webhook(body, sign(body));
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
    await subscriber.ended;
    expect(subscriber.received).toEqual(statusEvents(id, 'CREATING', 'RUNNING', 'FINISHED'));
  });

  it('ignores repeated webhook messages; refuses messages without a later time once the agent has ended', async () => {
    const id = await launch();
    const send = async (status: string, timestamp?: Date): Promise<number> => {
      const body = JSON.stringify({ id, status, ...(timestamp === undefined ? {} : { timestamp }) });
      return (await webhook(body, sign(body))).status;
    };
    const status = async (): Promise<unknown> => {
      const query = '{ codingAgents { edges { node { agentId status } } } }';
      const answer = await app.call('POST', '/graphql', { query }, { authorization: `Bearer ${key}` });
      const { data } = (await answer.json()) as {
        readonly data: {
          readonly codingAgents: { readonly edges: readonly { readonly node: Record<string, string> }[] };
        };
      };
      return data.codingAgents.edges.find(({ node }) => node['agentId'] === id)?.node['status'];
    };
    const early = new Date(Date.now() - 1_000);
    expect(await send('RUNNING')).toBe(200);
    expect(await send('WAITING')).toBe(200);
    expect(await send('RUNNING')).toBe(200);
    // The third message repeats the first one.
    expect(await status()).toBe('WAITING');
    expect(await send('FINISHED')).toBe(200);
    // With a space the second message is new. A known message would be ignored.
    expect([await send('RUNNING', early), await send('RUNNING ')]).toEqual([400, 400]);
    expect(await status()).toBe('FINISHED');
    expect(await send('RUNNING', new Date(Date.now() + 60_000))).toBe(200);
    expect(await status()).toBe('RUNNING');
  });
});
