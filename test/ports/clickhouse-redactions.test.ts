import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../src/domain/errors.ts';
import type { BodyReader } from '../../src/domain/traces/packed.ts';
import type { ClickHouse } from '../../src/persistence/clickhouse/client.ts';
import { createClickHouseRemoval } from '../../src/persistence/clickhouse/trace-removal.ts';
import { createMutex } from '../../src/persistence/database/mutex.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { POLLING } from '../support/polling.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { anExport } from './an-export.ts';
import { CLICKHOUSE, type ClickHouseScratch } from './clickhouse-engine.ts';
import { ALL, aSpan, START_MS, TEAM_KEY, traceId } from './samples.ts';

const TRACE = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };
/** Statements of a redaction: spans, body, summary by start, summary, end of the redaction. */
const STATEMENTS = 5;

describe.skipIf(CLICKHOUSE.skipReason !== null)('redaction in ClickHouse', () => {
  let scratch: ClickHouseScratch;
  let bodies: ReturnType<typeof aTracePacker>;
  beforeEach(async () => {
    scratch = await CLICKHOUSE.create();
    bodies = aTracePacker();
  });
  afterEach(async () => {
    await scratch.remove();
    await bodies.close();
  });

  /** Redacts trace 1 on a server that fails at a statement, as when the process is killed there. */
  async function redactUntil(step: number, at: Date): Promise<void> {
    let steps = 0;
    const failing: ClickHouse = {
      ...scratch.server,
      run(statement) {
        steps += 1;
        return steps < step ? scratch.server.run(statement) : Promise.reject(new Unavailable('away'));
      },
    };
    const removal = createClickHouseRemoval(failing, bodies satisfies BodyReader, {
      bodyMutex: createMutex(),
      traceMutex: createMutex(),
    });
    await expect(removal.redact([TRACE], at.getTime())).rejects.toThrow('away');
  }

  const steps = Array.from({ length: STATEMENTS }, (_none, index) => index + 1);

  it.each(steps)('the next start completes a redaction that stopped before statement %i', async (step) => {
    const { traces } = await scratch.open({ bodies });
    await traces.ingestExport(TEAM_KEY, anExport(1, 'secret'));
    await traces.ingest([{ owner: TEAM_KEY, spans: [aSpan({ traceId: traceId(2), input: 'kept' })] }]);
    await redactUntil(step, new Date(START_MS));
    const next = (await scratch.open({ bodies })).traces;
    await vi.waitFor(async () => expect(await scratch.allContent()).not.toContain('secret'), POLLING);
    await vi.waitFor(async () => {
      const listed = await next.listSummaries(ALL, { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null }, 10);
      expect(new Map(listed.map((summary) => [summary.traceId, summary.redactedAt]))).toEqual(
        new Map([
          [traceId(1), new Date(START_MS)],
          [traceId(2), null],
        ]),
      );
    }, POLLING);
    expect(await scratch.allContent()).toContain('kept');
  });

  it('the next start completes the second redaction of a trace', async () => {
    const { traces } = await scratch.open({ bodies });
    await traces.ingestExport(TEAM_KEY, anExport(1, 'secret'));
    await traces.redact([TRACE], new Date(START_MS));
    await traces.ingest([{ owner: TEAM_KEY, spans: [aSpan({ spanId: 'f'.repeat(16), input: 'later secret' })] }]);
    await redactUntil(1, new Date(START_MS + 1));
    expect(await scratch.allContent()).toContain('later secret');
    await scratch.open({ bodies });
    await vi.waitFor(async () => expect(await scratch.allContent()).not.toContain('secret'), POLLING);
  });

  it.each(steps)('the next start completes one that stopped before statement %i, after more spans', async (step) => {
    const { traces } = await scratch.open({ bodies });
    await traces.ingestExport(TEAM_KEY, anExport(1, 'secret'));
    await redactUntil(step, new Date(START_MS));
    await traces.ingest([{ owner: TEAM_KEY, spans: [aSpan({ spanId: 'f'.repeat(16), input: 'added' })] }]);
    expect(await scratch.allContent()).toContain('added');
    await scratch.open({ bodies });
    await vi.waitFor(async () => expect(await scratch.allContent()).not.toMatch(/secret|added/), POLLING);
    await vi.waitFor(async () => expect(await scratch.server.rows('select * from redaction')).toEqual([]), POLLING);
  });

  it('a redaction that ended is not repeated, nor an interrupted one of a trace that was removed', async () => {
    const { traces } = await scratch.open({ bodies });
    await traces.ingestExport(TEAM_KEY, anExport(1, 'secret'));
    await traces.ingestExport(TEAM_KEY, anExport(2, 'secret'));
    await traces.redact([{ traceId: traceId(2), traceRef: traceRefOf(TEAM_KEY, traceId(2)) }], new Date(START_MS));
    await redactUntil(1, new Date(START_MS));
    expect(await scratch.server.rows('select trace_id from redaction')).toEqual([{ trace_id: traceId(1) }]);
    await traces.remove([TRACE]);
    expect(await scratch.server.rows('select trace_id from redaction')).toEqual([]);
  });
});
