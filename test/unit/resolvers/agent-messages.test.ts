import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { takeAgentMessage } from '../../../resolvers/coding-agent-status.ts';
import { Unavailable } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { createAgentMessages } from '../../../src/runtime/coding-agents/agent-messages.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const STATE = { name: null, status: 'RUNNING', repository: null, ref: null, branchName: null, url: null };

/** A gateway with one running agent. The first `failures` changes in its store fail. */
function gateway(failures: number) {
  let agent = { id: 'bc_1', state: { ...STATE, autoCreatePr: null, launchedAt: null }, updatedAt: NOW };
  let remainingFailures = failures;
  const codingAgents = {
    find: async () => agent,
    async change(_id: string, change: (row: typeof agent) => typeof agent) {
      if (remainingFailures > 0) {
        remainingFailures -= 1;
        throw new Unavailable('The store is unavailable.');
      }
      const before = agent;
      agent = change(agent);
      return { before, after: agent };
    },
  };
  const platform = {
    agentMessages: createAgentMessages(new Secret('secret')),
    stores: { codingAgents },
    bus: { publish: () => undefined },
    clock: { now: () => NOW },
  };
  const send = (status: string): Promise<void> => {
    const bytes = Buffer.from(JSON.stringify({ id: 'bc_1', status }));
    const signature = `sha256=${createHmac('sha256', 'secret').update(bytes).digest('hex')}`;
    return takeAgentMessage({ platform, caller: null } as never, { bytes, signature });
  };
  return { send, status: () => agent.state.status, change: codingAgents.change };
}

it('a message that could not be stored is stored when the provider sends it again', async () => {
  const { send, status } = gateway(1);
  await expect(send('FINISHED')).rejects.toThrow(Unavailable);
  await send('FINISHED');
  expect(status()).toBe('FINISHED');
});

it('a message that is stored has no effect when it is sent again', async () => {
  const { send, status, change } = gateway(0);
  await send('CREATING');
  await change('bc_1', (row) => ({ ...row, state: { ...row.state, status: 'RUNNING' } }));
  await send('CREATING');
  expect(status()).toBe('RUNNING');
});
