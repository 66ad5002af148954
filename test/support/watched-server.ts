import { parentPort, workerData } from 'node:worker_threads';
import { startApp } from './start-app.ts';

// The product on a thread of its own that watches its own event loop. It measures the CPU time of this thread between
// two turns of the loop: other processes and other threads take no part in it, however busy the machine is.

/** What the thread is asked: to forget the longest slice, to tell it, to block its loop for a while, or to end. */
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

/** An immediate in each turn keeps the loop from sleeping, and marks where the turn ends. */
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
  // The answer to a question may come in the same turn as what it asks about.
  if (question === 'read') note();
  const start = cpuMs();
  while (question === 'block' && cpuMs() - start < blockedMs);
  parentPort?.postMessage({ longestMs });
});
parentPort?.postMessage({ url: app.url, adminKey: app.adminKey });
setImmediate(mark);
