import { parentPort, workerData } from 'node:worker_threads';
import { startApp } from './start-app.ts';

// App on a worker thread that measures its event loop: the CPU time of this thread between two turns of the loop. The
// load of other processes and threads does not count.

/** Commands to the thread: reset the longest CPU time between two turns, return it, block the event loop, or stop. */
export type Question = 'reset' | 'read' | 'block' | 'stop';

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const blockedMs = Number(workerData);
let before = cpuMs();
let longestMs = 0;

function note(): void {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
}

/** An immediate in each turn marks the end of the turn and keeps the event loop active. */
function mark(): void {
  note();
  setImmediate(mark);
}

const app = await startApp({ env: { LENSGATE_CATALOG_DAILY_LIMIT: '1000000' } });

parentPort?.on('message', (question: Question) => {
  if (question === 'stop') {
    void app.stop().then(() => process.exit());
    return;
  }
  if (question === 'reset') {
    longestMs = 0;
    before = cpuMs();
  }
  // A command may arrive in the same turn as the load that it measures.
  if (question === 'read') note();
  const start = cpuMs();
  while (question === 'block' && cpuMs() - start < blockedMs);
  parentPort?.postMessage({ longestMs });
});
parentPort?.postMessage({ url: app.url, adminKey: app.adminKey });
setImmediate(mark);
