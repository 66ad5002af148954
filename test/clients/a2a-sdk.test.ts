import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardOf, startAgent, type TestAgent } from '../support/a2a-agent.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const message = (text: string): Message => ({
  messageId: crypto.randomUUID(),
  contextId: '',
  taskId: '',
  role: Role.ROLE_USER,
  parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

const sending = (text: string, returnImmediately = false) => ({
  tenant: '',
  message: message(text),
  configuration: {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately,
  },
  metadata: undefined,
});

const textIn = (parts: Message['parts'] = []): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

/** A client with a key. The card is fetched through the gateway. */
function clientOf(app: TestApp, agent: string, key: string | null): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    if (key !== null) headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const legacyCompat = { enabled: true };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
  });
  return factory.createFromUrl(`${app.url}/a2a/${agent}/.well-known/agent-card.json`, '');
}

let app: TestApp;
let key: string;
const agents = new Map<string, TestAgent>();

beforeAll(async () => {
  app = await startApp();
  for (const version of ['0.3', '1.0'] as const) {
    // oxlint-disable-next-line no-await-in-loop -- the two agents of the tests
    const agent = await startAgent(version);
    agents.set(version, agent);
    const body = { agent_name: `echo-${version}`, agent_card_params: cardOf(agent.url, version) };
    // oxlint-disable-next-line no-await-in-loop -- as above
    await app.call('POST', '/v1/agents', body);
  }
  const generated = await app.call('POST', '/key/generate', { user_id: 'someone' });
  ({ key } = (await generated.json()) as { key: string });
});

afterAll(async () => {
  await app.stop();
  await Promise.all([...agents.values()].map((agent) => agent.stop()));
});

describe.each(['0.3', '1.0'] as const)('the A2A SDK against an agent of version %s', (version) => {
  const name = `echo-${version}`;
  const agentOf = (): TestAgent => agents.get(version) ?? (null as never);

  it('sends a message', async () => {
    const client = await clientOf(app, name, key);
    const result = (await client.sendMessage(sending('hi'))) as Message;
    expect(textIn(result.parts)).toBe('echo: hi');
  });

  it('streams a task', async () => {
    const client = await clientOf(app, name, key);
    const events: string[] = [];
    for await (const { payload } of client.sendMessageStream(sending('task one'))) events.push(payload?.$case ?? '');
    expect(events).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
  });

  it('gets and cancels a task', async () => {
    const client = await clientOf(app, name, key);
    const started = (await client.sendMessage(sending('wait', true))) as Task;
    const found = await client.getTask({ tenant: '', id: started.id, historyLength: undefined });
    expect(found.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const cancelled = await client.cancelTask({ tenant: '', id: started.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('gets an error for an unknown task', async () => {
    const client = await clientOf(app, name, key);
    await expect(client.getTask({ tenant: '', id: 'nope', historyLength: undefined })).rejects.toThrow(/not found/i);
  });

  it('aborts the call of the agent when the client disconnects', async () => {
    const client = await clientOf(app, name, key);
    const before = agentOf().requests.length;
    const controller = new AbortController();
    const stream = client.sendMessageStream(sending('wait'), { signal: controller.signal });
    expect((await stream.next()).done).toBe(false);
    const request = agentOf().requests[before];
    controller.abort();
    await expect(stream.next()).rejects.toThrow(/abort/i);
    await request?.aborted;
    agentOf().release();
  });
});

describe('the A2A SDK', () => {
  it('gets no card without a key, for an unknown agent, and for an agent that the key may not call', async () => {
    await expect(clientOf(app, 'echo-1.0', null)).rejects.toThrow(/401/);
    await expect(clientOf(app, 'nope', key)).rejects.toThrow(/404/);
    const generated = await app.call('POST', '/key/generate', { object_permission: { agents: ['other'] } });
    const { key: otherKey } = (await generated.json()) as { key: string };
    await expect(clientOf(app, 'echo-1.0', otherKey)).rejects.toThrow(/403/);
  });

  it('gets an error while the agent is down', async () => {
    const agent = await startAgent();
    await app.call('POST', '/v1/agents', { agent_name: 'down', agent_card_params: cardOf(agent.url) });
    const client = await clientOf(app, 'down', key);
    await agent.stop();
    await expect(client.sendMessage(sending('hi'))).rejects.toThrow();
  });
});
