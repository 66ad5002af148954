import { LimitExceeded } from '../errors.ts';
import { evictOldest } from '../evict-oldest.ts';
import { type Usd, usdFrom, usdText, ZERO_USD } from '../money.ts';
import type { A2aAgent } from './agent.ts';
import { numberIn } from './numbers.ts';

/** Maximum number of sessions that are counted. The oldest ones are evicted, and then count from zero. */
const MAX_SESSIONS = 10_000;

/** A counted call of a session. */
export interface SessionCall {
  /** Charges the cost of the call. A later charge replaces it. */
  charge(cost: Usd): void;
  /** Removes the call from the count, because it was not sent. Idempotent. */
  release(): void;
}

/** Counts the calls and the costs of sessions of agents, in this process. */
export interface AgentSessions {
  /**
   * Counts one billed call of a session. Throws LimitExceeded when `max_iterations` or `max_budget_per_session` of the
   * agent is used up.
   */
  begin(agent: A2aAgent, session: string): SessionCall;
}

/** A call that is not counted. */
export const UNCOUNTED_CALL: SessionCall = Object.freeze({ charge() {}, release() {} });

interface SessionCount {
  calls: number;
  cost: Usd;
}

export function createAgentSessions(): AgentSessions {
  const counts = new Map<string, SessionCount>();
  return {
    begin({ id, name, params }, session) {
      const maxCalls = numberIn(params, 'max_iterations');
      const maxCost = numberIn(params, 'max_budget_per_session');
      if (maxCalls === null && maxCost === null) return UNCOUNTED_CALL;
      const key = JSON.stringify([id, session]);
      const count = counts.get(key) ?? { calls: 0, cost: ZERO_USD };
      if (maxCalls !== null && count.calls >= maxCalls)
        throw new LimitExceeded(`Session ${session} has used all ${maxCalls} calls of agent ${name}.`, 'requests');
      const budget = maxCost === null ? null : usdFrom(maxCost);
      if (budget !== null && count.cost >= budget)
        throw new LimitExceeded(
          `Session ${session} has used its budget of ${usdText(budget)} USD for agent ${name}.`,
          'budget',
        );
      count.calls += 1;
      counts.delete(key);
      counts.set(key, count);
      evictOldest(counts, MAX_SESSIONS);
      let charged: Usd = ZERO_USD;
      let isCounted = true;
      return {
        charge(cost) {
          count.cost = (count.cost + cost - charged) as Usd;
          charged = cost;
        },
        release() {
          if (isCounted) count.calls -= 1;
          isCounted = false;
        },
      };
    },
  };
}
