import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Stores } from '../../src/persistence/stores.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { anExport } from './an-export.ts';
import { TRACE_ENGINES } from './clickhouse-engine.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { A_CALL, TEAM_KEY, aKey, aSpan, aSpendRow, spanId, traceId } from './samples.ts';

const REF = traceRefOf(TEAM_KEY, traceId(1));
const TRACE = { traceId: traceId(1), traceRef: REF };
const EXPORTED = { traceId: traceId(2), traceRef: traceRefOf(TEAM_KEY, traceId(2)) };
const bodies = aTracePacker();
const CHILD = fileURLToPath(new URL('./durability-child.ts', import.meta.url));

/** Stores rows in a child process and kills it as soon as it prints `stored`. */
async function storeAndDie({
  options: { databaseUrl, dataDir, sqliteDriver, traces },
}: ScratchDatabase): Promise<void> {
  const argument = JSON.stringify({ databaseUrl, dataDir, sqliteDriver, traces });
  const child = spawn(process.execPath, [CHILD, argument], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const output = await Promise.race([once(child.stdout, 'data').then(([data]) => String(data)), exited.then(() => '')]);
  child.kill('SIGKILL');
  expect([output, (await exited)[1]]).toEqual(['stored\n', 'SIGKILL']);
}

async function everything({ keys, spend, traces }: Stores): Promise<unknown> {
  const [summary] = await traces.findSummaries({ kind: 'all' }, traceId(1), null);
  return {
    key: await keys.find(aKey().hash),
    spend: await spend.findBySpans([`${traceId(1)}:${spanId(1)}`]),
    total: await spend.totalOf(aSpendRow().keyHash),
    spanCount: summary?.spanCount,
    heads: (await traces.listSpans([TRACE])).get(REF)?.length,
    last: await traces.findSpan([TRACE], spanId(700)),
    // The trace and the span of `A_CALL`.
    called: await traces.findSpan(await traces.findSummaries({ kind: 'all' }, traceId(3), null), spanId(3)),
    charged: await spend.totalOf(A_CALL.spend.keyHash),
    exported: (await traces.findSpan([EXPORTED], spanId(1)))?.input,
  };
}

const STORED = {
  key: aKey(),
  spend: [aSpendRow()],
  total: aSpendRow().cost,
  spanCount: 700,
  heads: 700,
  last: aSpan({ spanId: spanId(700) }),
  called: A_CALL.span,
  charged: A_CALL.spend.cost,
  exported: 'in a body',
};

for (const engine of TRACE_ENGINES)
  describe.skipIf(engine.skipReason !== null)(`durability on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeEach(async () => {
      scratch = await engine.create();
    });
    afterEach(() => scratch.remove());

    it('the database has every acknowledged write after the process was killed', async () => {
      await storeAndDie(scratch);
      expect(await everything(await scratch.open({ bodies }))).toEqual(STORED);
    });

    it('stores commit pending writes before they close, and have them when they are opened again', async () => {
      const stores = await scratch.open();
      const spans = Array.from({ length: 700 }, (_, position) => aSpan({ spanId: spanId(position + 1) }));
      const pendingWrites = [
        stores.keys.add(aKey()),
        stores.spend.append([aSpendRow()]),
        stores.calls.append([stores.calls.encode(A_CALL)]),
        stores.callSpans?.append([stores.callSpans.encode(A_CALL)]) ?? Promise.resolve(),
        ...spans.map((span) => stores.traces.ingest([{ owner: TEAM_KEY, spans: [span] }])),
        stores.traces.ingestExport(TEAM_KEY, anExport(2, 'in a body')),
      ];
      await stores.close();
      await Promise.all(pendingWrites);
      expect(await everything(await scratch.open({ bodies }))).toEqual(STORED);
    });
  });

for (const engine of ENGINES)
  it.skipIf(engine.skipReason !== null)(
    `stores on ${engine.name} have the name of their engine, and answer a ping`,
    async () => {
      const scratch = await engine.create();
      const stores = await scratch.open();
      expect(stores.engine).toBe(engine.name);
      expect(await stores.ping()).toBeUndefined();
      await scratch.remove();
    },
  );
