import type { AgentPolls, PollResult } from '../../domain/coding-agents/agent-polls.ts';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';

/** Factor by which the time to the next poll grows after a poll without a change. */
const GROWTH = 1.5;
/** Maximum time between two polls in ms, unless `everyMs` is longer. */
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
    const longestMs = Math.max(MAX_INTERVAL_MS, everyMs);
    let waitMs = everyMs;
    const task = scheduler.every({
      name: 'coding-agent-poll',
      everyMs: () => waitMs,
      async run(signal) {
        // A failed poll counts as a poll without a change.
        const result = await poll(signal).catch((): PollResult => 'same');
        if (result === 'ended') return end(id, polled);
        waitMs = result === 'changed' ? everyMs : Math.min(longestMs, waitMs * GROWTH);
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
