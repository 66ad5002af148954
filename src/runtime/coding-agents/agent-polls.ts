import type { AgentPolls, PollResult } from '../../domain/coding-agents/agent-polls.ts';

/** Factor by which the time between polls grows, and its end in ms. */
const GROWTH = 1.5;
const LONGEST_MS = 60_000;

interface Polled {
  followers: number;
  readonly stop: AbortController;
}

/** Polls agents in this process. `everyMs` is the time between polls while an agent changes. */
export function createAgentPolls({ everyMs }: { readonly everyMs: number }): AgentPolls {
  const agents = new Map<string, Polled>();

  function run(id: string, polled: Polled, poll: (signal: AbortSignal) => Promise<PollResult>): void {
    const { signal } = polled.stop;
    let waitMs = everyMs;
    function next(): void {
      if (signal.aborted) return;
      setTimeout(() => void work(), waitMs).unref();
    }
    async function work(): Promise<void> {
      if (signal.aborted) return;
      const result = await poll(signal).catch((): PollResult => 'same');
      if (result === 'ended' && agents.get(id) === polled) agents.delete(id);
      if (result === 'ended') return;
      waitMs = result === 'changed' ? everyMs : Math.min(Math.max(LONGEST_MS, everyMs), waitMs * GROWTH);
      next();
    }
    next();
  }

  return {
    follow(id, poll) {
      let polled = agents.get(id);
      if (polled === undefined) {
        polled = { followers: 0, stop: new AbortController() };
        agents.set(id, polled);
        run(id, polled, poll);
      }
      const own = polled;
      own.followers += 1;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        own.followers -= 1;
        if (own.followers > 0) return;
        own.stop.abort();
        if (agents.get(id) === own) agents.delete(id);
      };
    },
  };
}
