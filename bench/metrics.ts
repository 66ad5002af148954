// Time to render /metrics with many series of calls by model, and time to count a call. Both are measured in this
// process without an HTTP server.
//   node bench/metrics.ts [--series 10000] [--rounds 50] [--dry]
// `--dry` makes three rounds to check the script.
import { parseArgs } from 'node:util';
import type { CallRecord } from '../src/domain/calls/call-record.ts';
import { createCallMetrics } from '../src/runtime/telemetry/call-metrics.ts';

const { values: options } = parseArgs({
  options: {
    series: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '50' },
    dry: { type: 'boolean', default: false },
  },
});
const [series, rounds] = [Number(options.series), Number(options.rounds)];

/** Required: the slowest rendering takes at most this, in ms. */
const GOAL_MS = 50;

const call = (deploymentId: string): CallRecord =>
  ({
    spend: {
      deploymentId,
      provider: 'openai',
      usage: { inputTokens: 9, outputTokens: 2 },
      startedAt: new Date(0),
      firstByteAt: new Date(15),
      error: null,
    },
    span: { startNs: 0n, endNs: 500_000_000n, attributes: { 'gen_ai.operation.name': 'chat' } },
  }) as unknown as CallRecord;

const metrics = createCallMetrics((id) => `model-${id}`);
const seriesNow = (): number =>
  metrics
    .text()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#')).length;
// The first call shows how many series a model has.
metrics.record(call('0'));
const models = Math.ceil(series / seriesNow());
for (let nth = 1; nth < models; nth += 1) metrics.record(call(String(nth)));

const times: number[] = [];
for (let round = 0; round < (options.dry ? 3 : rounds); round += 1) {
  const startMs = performance.now();
  metrics.text();
  times.push(performance.now() - startMs);
}
times.sort((one, other) => one - other);
const calls = options.dry ? 1_000 : 1_000_000;
const one = call('1');
const startMs = performance.now();
for (let nth = 0; nth < calls; nth += 1) metrics.record(one);
const recordNs = ((performance.now() - startMs) / calls) * 1e6;

const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
const [p50, worst] = [at(0.5), at(1)];
console.log(`${seriesNow()} series of ${models} models: p50 ${p50.toFixed(1)} ms, longest ${worst.toFixed(1)} ms`);
console.log(`A call is counted in ${recordNs.toFixed(0)} ns.`);
console.log(worst <= GOAL_MS ? `within the goal of ${GOAL_MS} ms` : `missed the goal of ${GOAL_MS} ms`);
