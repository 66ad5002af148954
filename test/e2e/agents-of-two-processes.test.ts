import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cardOf, startAgent, type TestAgent } from '../support/a2a-agent.ts';
import { POLLING } from '../support/polling.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const MESSAGE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: { message: { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'hi' }] } },
};

describe.skipIf(LACKS_POSTGRESQL)('agents of two processes', () => {
  let apps: TwoApps;
  let agent: TestAgent;
  beforeAll(async () => {
    agent = await startAgent('0.3');
    apps = await startTwoApps('sk-two-agents-5c81');
  });
  afterAll(async () => {
    await apps.stop();
    await agent.stop();
  });

  it('a process calls an agent that another one stores, and no longer after its removal', async () => {
    const { here, there } = apps;
    const statusThere = async () => (await there.call('POST', '/a2a/shared', MESSAGE)).status;
    expect(await statusThere()).toBe(404);
    const body = { agent_name: 'shared', agent_card_params: cardOf(agent.url, '0.3') };
    const created = await here.call('POST', '/v1/agents', body);
    const { agent_id: id } = (await created.json()) as { readonly agent_id: string };
    await vi.waitFor(async () => expect(await statusThere()).toBe(200), POLLING);
    await here.call('DELETE', `/v1/agents/${id}`);
    await vi.waitFor(async () => expect(await statusThere()).toBe(404), POLLING);
  });
});
