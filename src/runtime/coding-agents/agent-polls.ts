import type { AgentPolls, PollResult } from '../../domain/coding-agents/agent-polls.ts';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';

/** Growth factor of the interval between polls without a change, and the maximum interval in ms. */
const GROWTH = 1.5;
const MAX_INTERVAL_MS = 60_000;

/** An agent that is polled while it has followers. */
interface Polled {
  followers: number;
  readonly task: ScheduledTask;
}

/** Polls agents in this process. `everyMs` is the time between polls while an agent changes. */
export function createAgentPolls({
  everyMs,
  scheduler,
}: {
  readonly everyMs: number;
  readonly scheduler: Scheduler;
}): AgentPolls {
  const agents = new Map<string, Polled>();

  function begin(id: string, poll: (signal: AbortSignal) => Promise<PollResult>): Polled {
    let waitMs = everyMs;
    const task = scheduler.every({
      name: 'coding-agent-poll',
      everyMs: () => waitMs,
      async run(signal) {
        // A failed poll counts as a poll without a change.
        const result = await poll(signal).catch((): PollResult => 'same');
        if (result === 'ended') return end(id, polled);
        waitMs = result === 'changed' ? everyMs : Math.min(Math.max(MAX_INTERVAL_MS, everyMs), waitMs * GROWTH);
      },
    });
    const polled: Polled = { followers: 0, task };
    agents.set(id, polled);
    return polled;
  }

  function end(id: string, polled: Polled): void {
    void polled.task.stop();
    if (agents.get(id) === polled) agents.delete(id);
  }

  return {
    follow(id, poll) {
      const polled = agents.get(id) ?? begin(id, poll);
      polled.followers += 1;
      let hasUnfollowed = false;
      return () => {
        if (hasUnfollowed) return;
        hasUnfollowed = true;
        polled.followers -= 1;
        if (polled.followers === 0) end(id, polled);
      };
    },
  };
}
