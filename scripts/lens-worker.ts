import { parseArgs } from 'node:util';
import { Secret } from '../src/domain/secret.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { httpBackend } from '../src/runtime/lens/http-backend.ts';
import { createWorkerLoop } from '../src/runtime/lens/worker-loop.ts';
import { createScheduler } from '../src/runtime/tasks/scheduler.ts';
import { createLog } from '../src/runtime/telemetry/log.ts';

// A worker of lens runs for a server on another machine: `npm run lens-worker -- --url U --token T`. The token may be
// in LENSGATE_LENS_WORKER_TOKEN, which other users of the machine cannot read. `--slots` is the number of concurrent
// runs. The worker stops on SIGINT and SIGTERM.

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    token: { type: 'string', default: process.env['LENSGATE_LENS_WORKER_TOKEN'] ?? '' },
    slots: { type: 'string', default: '3' },
    'poll-seconds': { type: 'string', default: '2' },
  },
});
const [slots, pollSeconds] = [Number(values.slots), Number(values['poll-seconds'])];
// `!(slots >= 1)` also refuses NaN.
if (values.url === undefined || values.token === '' || !(slots >= 1) || !(pollSeconds > 0)) {
  console.error('Usage: npm run lens-worker -- --url URL --token TOKEN [--slots 3] [--poll-seconds 2]');
  process.exit(1);
}
const log = createLog('info');
const worker = createWorkerLoop({
  backend: httpBackend(values.url, new Secret(values.token)),
  slots,
  pollMs: pollSeconds * 1_000,
  clock: systemClock,
  scheduler: createScheduler(log),
  log,
});
// Keeps the process alive while all slots wait.
const keepAlive = setInterval(() => {}, 60_000);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    clearInterval(keepAlive);
    void worker.stop().then(() => process.exit(0));
  });
worker.start();
