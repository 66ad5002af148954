// CPU of a span in traces that arrive in several exports, and time of the slowest export, in process. Prints one line
// of JSON.
//   node bench/pieces.ts <checkout> <traces> <exports of each> <spans of an export>
// The exports of all traces alternate. Every second span is a model call with a price.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type * as orm from '../src/persistence/database/orm.ts';

const [root = '.', ...sizes] = process.argv.slice(2);
const [TRACES = 20, EXPORTS = 20, SPANS = 10] = sizes.map(Number);
type Orm = typeof orm;
const { openStores } = (await import(resolve(root, 'src/persistence/database/orm.ts'))) as Orm;
const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
const stores = await openStores({
  databaseUrl: null,
  dataDir: folder,
  log: { warn: (facts, event) => console.error(event, facts) },
});
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const owner = { teamId: 'team', keyHash: 'k'.repeat(64) };
const START_NS = 1_700_000_000_000_000_000n;

function spansOf(trace: number, piece: number) {
  return Array.from({ length: SPANS }, (_, at) => {
    const number = piece * SPANS + at;
    const isCall = number % 2 === 1;
    return {
      traceId: hex(trace + 1, 32),
      spanId: hex(number + 1, 16),
      // A model call is a child of the step before it. Other steps are children of the root.
      parentSpanId: number === 0 ? null : hex(isCall ? number : 1, 16),
      name: isCall ? 'chat' : 'step',
      kind: 'CLIENT',
      type: isCall ? 'llm' : 'chain',
      agent: '',
      service: 'bench',
      startNs: START_NS + BigInt(number) * 1_000_000n,
      endNs: START_NS + BigInt(number + 1) * 1_000_000n,
      status: 'ok',
      error: null,
      model: 'demo',
      provider: 'demo',
      framework: '',
      inputTokens: isCall ? 10 : 0,
      outputTokens: isCall ? 10 : 0,
      inputPreview: '',
      requestId: isCall ? `answer-${number}` : null,
      callId: null,
      gateway: false,
      cost: null,
      estimate: isCall ? 7n : null,
      source: null,
      input: '',
      output: '',
      attributes: {},
      resourceAttributes: {},
      events: [],
      links: [],
    } as Parameters<typeof stores.traces.ingest>[0][number]['spans'][number];
  });
}

let slowestMs = 0;
const before = process.cpuUsage();
for (let piece = 0; piece < EXPORTS; piece += 1)
  for (let trace = 0; trace < TRACES; trace += 1) {
    const startedAt = performance.now();
    await stores.traces.ingest([{ owner, spans: spansOf(trace, piece) }]);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuUs: (user + system) / (TRACES * EXPORTS * SPANS), slowestMs }));
await stores.close();
rmSync(folder, { recursive: true });
