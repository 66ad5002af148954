// CPU of a span in traces that arrive in several exports, time of the slowest export, and size of the database, in
// process. Prints one line of JSON.
//   node bench/pieces.ts <checkout> <traces> <exports of each> <spans of an export> [<notes from>]
// `notes from` is the number of spans from which a trace has notes on its calls, or `off` for no notes.
// The exports of all traces alternate. Every second span is a model call. Exports are encoded before the measured part,
// which follows as many exports of other traces, so that the code is compiled.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type * as packing from '../src/ingest/pack-export.ts';
import type * as orm from '../src/persistence/database/orm.ts';
import type * as otlp from '../src/domain/traces/otlp-limits.ts';

const [root = '.', ...words] = process.argv.slice(2);
const [TRACES = 20, EXPORTS = 20, SPANS = 10] = words.slice(0, 3).map(Number);
const from = words[3];
const notesFrom = from === undefined ? {} : { notesFrom: from === 'off' ? null : Number(from) };
type Orm = typeof orm;
type Packing = typeof packing;
type Otlp = typeof otlp;
const { openStores } = (await import(resolve(root, 'src/persistence/database/orm.ts'))) as Orm;
const { packExport } = (await import(resolve(root, 'src/ingest/pack-export.ts'))) as Packing;
const { DEFAULT_OTLP_LIMITS } = (await import(resolve(root, 'src/domain/traces/otlp-limits.ts'))) as Otlp;
const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
const stores = await openStores({
  databaseUrl: null,
  dataDir: folder,
  ...notesFrom,
  log: { warn: (facts, event) => console.error(event, facts) },
});
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const owner = { teamId: 'team', keyHash: 'k'.repeat(64) };
const START_NS = 1_700_000_000_000_000_000n;
const attribute = (key: string, value: string | number) => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : { intValue: value },
});

function exportOf(trace: number, piece: number) {
  const spans = Array.from({ length: SPANS }, (_, at) => {
    const number = piece * SPANS + at;
    const isCall = number % 2 === 1;
    return {
      traceId: hex(trace + 1, 32),
      spanId: hex(number + 1, 16),
      // A model call is a child of the step before it. Other steps are children of the root.
      parentSpanId: number === 0 ? '' : hex(isCall ? number : 1, 16),
      name: isCall ? 'chat' : 'step',
      kind: 3,
      startTimeUnixNano: String(START_NS + BigInt(number) * 1_000_000n),
      endTimeUnixNano: String(START_NS + BigInt(number + 1) * 1_000_000n),
      attributes: isCall
        ? [
            attribute('gen_ai.operation.name', 'chat'),
            attribute('gen_ai.provider.name', 'openai'),
            attribute('gen_ai.request.model', 'demo'),
            attribute('gen_ai.response.id', `answer-${trace}-${number}`),
            attribute('gen_ai.usage.input_tokens', 10),
            attribute('gen_ai.usage.output_tokens', 10),
          ]
        : [],
    };
  });
  const bytes = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
  return packExport({ bytes, contentType: 'application/json', contentEncoding: undefined }, DEFAULT_OTLP_LIMITS);
}

/** Ingests traces whose numbers begin at `first`. */
async function run(first: number): Promise<{ readonly cpuUs: number; readonly slowestMs: number }> {
  const exports = Array.from({ length: EXPORTS }, (_, piece) =>
    Array.from({ length: TRACES }, (__, trace) => exportOf(first + trace, piece)),
  ).flat();
  let slowestMs = 0;
  const before = process.cpuUsage();
  for (const packed of exports) {
    const startedAt = performance.now();
    await stores.traces.ingestExport(owner, packed);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / (TRACES * EXPORTS * SPANS), slowestMs };
}

await run(0);
const { cpuUs, slowestMs } = await run(TRACES);
await stores.close();
const file = statSync(join(folder, 'lensgate.db'), { throwIfNoEntry: false })?.size ?? 0;
console.log(JSON.stringify({ ...notesFrom, cpuUs, slowestMs, bytes: file / (2 * TRACES * EXPORTS * SPANS) }));
rmSync(folder, { recursive: true });
