import { describe, expect, it } from 'vitest';
import { type A2aAgent, DEFAULT_AGENT } from '../../../src/domain/a2a-agents/agent.ts';
import { createAgentSessions } from '../../../src/domain/a2a-agents/sessions.ts';
import { usdFrom, ZERO_USD } from '../../../src/domain/money.ts';

const agent = (params: A2aAgent['params'], id = 'a'): A2aAgent => ({
  ...DEFAULT_AGENT,
  id,
  name: id,
  card: {},
  params,
  staticHeaders: {},
  isReadable: true,
  isFromConfig: false,
});

const usd = (amount: number) => usdFrom(amount) ?? ZERO_USD;

describe('sessions of agents', () => {
  it('max_iterations counts the calls of each session of each agent', () => {
    const sessions = createAgentSessions();
    const limited = agent({ max_iterations: 2 });
    sessions.begin(limited, 's');
    sessions.begin(limited, 's');
    expect(() => sessions.begin(limited, 's')).toThrow('Session s has used all 2 calls of agent a.');
    sessions.begin(limited, 't');
    sessions.begin(agent({ max_iterations: 1 }, 'b'), 's');
  });

  it('max_iterations does not count a call that was not sent', () => {
    const sessions = createAgentSessions();
    const limited = agent({ max_iterations: 1 });
    const refused = sessions.begin(limited, 's');
    refused.release();
    refused.release();
    sessions.begin(limited, 's');
    expect(() => sessions.begin(limited, 's')).toThrow('Session s has used all 1 calls of agent a.');
  });

  it('max_budget_per_session allows calls until the costs have reached it; a later charge replaces an earlier one', () => {
    const sessions = createAgentSessions();
    const limited = agent({ max_budget_per_session: 1 });
    const first = sessions.begin(limited, 's');
    first.charge(usd(5));
    first.charge(usd(0.6));
    sessions.begin(limited, 's').charge(usd(0.4));
    expect(() => sessions.begin(limited, 's')).toThrow('Session s has used its budget of 1 USD for agent a.');
  });

  it('the oldest of more than 10,000 sessions counts from zero again', () => {
    const sessions = createAgentSessions();
    const limited = agent({ max_iterations: 1 });
    for (let index = 0; index <= 10_000; index += 1) sessions.begin(limited, `s${index}`);
    expect(() => sessions.begin(limited, 's1')).toThrow();
    sessions.begin(limited, 's0');
  });

  it('a limit may be a text, as a variable of the environment is', () => {
    const sessions = createAgentSessions();
    const limited = agent({ max_iterations: '1', max_budget_per_session: '' });
    sessions.begin(limited, 's');
    expect(() => sessions.begin(limited, 's')).toThrow('Session s has used all 1 calls of agent a.');
  });

  it('agents without limits are not counted', () => {
    const sessions = createAgentSessions();
    const begin = () => sessions.begin(agent({ max_iterations: null }), 's');
    for (let index = 0; index < 3; index += 1) expect(begin).not.toThrow();
  });
});
