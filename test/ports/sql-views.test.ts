import { Migrator } from '@mikro-orm/migrations';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PackedExport } from '../../src/domain/traces/packed.ts';
import { DEFAULT_OTLP_LIMITS } from '../../src/domain/traces/otlp-limits.ts';
import { packExport } from '../../src/ingest/pack-export.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { A_CALL, aSpan, LONE_KEY, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

/** An export whose spans are stored in a block, because their trace begins with it. */
function anExport(trace: number): PackedExport {
  const spans = [1, 2].map((span) => ({
    traceId: traceId(trace),
    spanId: spanId(span),
    name: `step ${span} \u{1F600}`,
    startTimeUnixNano: `${START_MS}000001`,
    endTimeUnixNano: `${START_MS + 1}500001`,
    attributes: [{ key: 'gen_ai.request.model', value: { stringValue: 'demo' } }],
  }));
  const bytes = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
  return packExport({ bytes, contentType: 'application/json', contentEncoding: undefined }, DEFAULT_OTLP_LIMITS);
}

const PG_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d$/;

/** Converts times and booleans of PostgreSQL to the form of SQLite. */
function plain(value: unknown): unknown {
  if (typeof value === 'string' && PG_TIME.test(value)) return new Date(value).toISOString();
  return typeof value === 'boolean' ? Number(value) : value;
}

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`SQL views on ${engine.name}`, () => {
    const isPostgres = engine.name === 'postgresql';
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeEach(async () => {
      scratch = await engine.create();
      stores = await scratch.open({ bodies: aTracePacker() });
    });
    afterEach(() => scratch.remove());

    async function select(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
      const { orm } = await scratch.openBare();
      const { rows } = await sql.raw<Record<string, unknown>>(text).execute(orm.em.fork().getKysely<never>());
      return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
    }

    /** Stores spans in a block, a later span, and a gateway call from the log. */
    async function store(): Promise<void> {
      await stores.traces.ingestExport(TEAM_KEY, anExport(1));
      const late = aSpan({ spanId: spanId(3), estimate: picos(2n ** 62n + 1n), endNs: nsAt(START_MS + 2) });
      await stores.traces.ingest([{ owner: TEAM_KEY, spans: [late] }]);
      // The returned function reads the summary of the trace, for which it unfolds the call.
      await (
        await stores.calls.append([stores.calls.encode(A_CALL)])
      )();
    }

    it('show every span once, whether it was stored in a block, as a row or in the call log', async () => {
      await store();
      const rows = await select(
        'select trace_id, span_id, name, model, cost_usd, estimated_cost_usd, gateway from spans order by 1, 2',
      );
      const span = { trace_id: traceId(1), model: 'demo', cost_usd: null, estimated_cost_usd: null, gateway: 0 };
      expect(rows).toEqual([
        { ...span, span_id: spanId(1), name: 'step 1 \u{1F600}' },
        { ...span, span_id: spanId(2), name: 'step 2 \u{1F600}' },
        // 2⁶² + 1 picodollars.
        { ...span, span_id: spanId(3), name: 'chat demo', estimated_cost_usd: '4611686.018427387905' },
        {
          ...span,
          trace_id: traceId(3),
          span_id: spanId(3),
          name: 'chat demo',
          cost_usd: '0.000000000007',
          gateway: 1,
        },
      ]);
    });

    it('show traces and spend as exact decimals and times', async () => {
      await store();
      // Views of SQLite show nanoseconds. `plain` cuts the times of PostgreSQL to milliseconds.
      const timeOf = (text: string): string => (isPostgres ? text : text.replace('Z', '000000Z'));
      expect(
        await select('select trace_id, span_count, cost_usd, start_time, end_time, team_id from traces order by 1'),
      ).toEqual([
        {
          trace_id: traceId(1),
          span_count: 3,
          cost_usd: '4611686.018427387905',
          start_time: timeOf('2023-11-14T22:13:20.000Z'),
          end_time: timeOf('2023-11-14T22:13:20.002Z'),
          team_id: TEAM_KEY.teamId,
        },
        {
          trace_id: traceId(3),
          span_count: 1,
          cost_usd: '0.000000000007',
          start_time: timeOf('2023-11-14T22:13:20.000Z'),
          end_time: isPostgres ? '2023-11-14T22:13:20.005Z' : '2023-11-14T22:13:20.005000001Z',
          team_id: TEAM_KEY.teamId,
        },
      ]);
      expect(
        await select(
          'select id, model, input_tokens, output_tokens, cost_usd, status, start_time, error_code from spend',
        ),
      ).toEqual([
        {
          id: 'call-3',
          model: 'demo-model',
          input_tokens: isPostgres ? '3' : 3,
          output_tokens: isPostgres ? '5' : 5,
          cost_usd: '0.000000000007',
          status: 'success',
          start_time: '2023-11-14T22:13:20.000Z',
          error_code: null,
        },
      ]);
    });

    it('show the team of a key without a team as null, and no removed traces', async () => {
      await stores.traces.ingestExport(LONE_KEY, anExport(2));
      expect(await select('select distinct team_id, key_hash from spans')).toEqual([
        { team_id: null, key_hash: LONE_KEY.keyHash },
      ]);
      const [summary] = await stores.traces.findSummaries({ kind: 'all' }, traceId(2), null);
      await stores.traces.remove(summary === undefined ? [] : [summary]);
      expect(await select('select * from spans')).toEqual([]);
      expect(await select('select * from traces')).toEqual([]);
    });

    it('find a trace by its id without reading all spans', async () => {
      await store();
      const where = `select * from spans where trace_id = '${traceId(1)}'`;
      const plan = JSON.stringify(await select(isPostgres ? `explain ${where}` : `explain query plan ${where}`));
      expect(plan).toContain('trace_summary_trace_id_trace_ref_unique');
      // SQLite names tables by their aliases in the view: `s`, `p` and `b`.
      expect(plan).not.toMatch(/SCAN (?:s|span|p|b|sheet_trace|export_body)\b/);
    });

    it.skipIf(isPostgres)('do not use JSONB, which some clients lack', async () => {
      const views = await select(`select sql from sqlite_master where type = 'view'`);
      expect(views.length).toBe(3);
      expect(JSON.stringify(views)).not.toContain('jsonb');
    });

    it('are dropped by the migration down, and created again', async () => {
      await store();
      const { orm } = await scratch.openBare();
      const migrator = new Migrator(orm.em);
      await migrator.down({ to: 'Migration20261122080000_masked_names' });
      await expect(select('select * from spans')).rejects.toThrow(/spans/);
      await migrator.up();
      expect(await select('select count(*) as n from spans')).toEqual([{ n: isPostgres ? '4' : 4 }]);
    });
  });
