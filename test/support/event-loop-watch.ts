import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Question } from './watched-server.ts';

/** CPU time of `block`, in ms. */
export const BLOCKED_MS = 120;

/** Server on a worker thread with a measured event loop. */
export interface WatchedServer {
  readonly url: string;
  readonly adminKey: string;
  /** Runs `load`. Resolves to the longest CPU time of one turn of the server's event loop, in ms. */
  longestSliceMs(load: () => Promise<unknown>): Promise<number>;
  /** Blocks the server's event loop for `BLOCKED_MS`. */
  block(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startWatchedServer(): Promise<WatchedServer> {
  const worker = new Worker(new URL('./watched-server.ts', import.meta.url), { workerData: BLOCKED_MS });
  const answer = async <Answer>(): Promise<Answer> => ((await once(worker, 'message')) as [Answer])[0];
  function ask<Answer>(question: Question): Promise<Answer> {
    const answered = answer<Answer>();
    worker.postMessage(question);
    return answered;
  }
  const { url, adminKey } = await answer<{ readonly url: string; readonly adminKey: string }>();
  return {
    url,
    adminKey,
    async longestSliceMs(load) {
      await ask('reset');
      await load();
      return (await ask<{ readonly longestMs: number }>('read')).longestMs;
    },
    block: () => ask('block'),
    async stop() {
      const ended = once(worker, 'exit');
      worker.postMessage('stop' satisfies Question);
      await ended;
    },
  };
}
