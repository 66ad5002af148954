import { expressionBuilder, type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AnnotationConditions,
  NO_ANNOTATION_CONDITIONS,
} from '../../src/domain/annotations/annotation-conditions.ts';
import type { Visibility } from '../../src/domain/caller.ts';
import { annotatedQuery, visibleAndAnnotated } from '../../src/persistence/annotations/annotated-traces.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import { ownerOf, visibleTo } from '../../src/persistence/traces/reads.ts';
import { annotatedTracesSuite } from './annotated-traces-suite.ts';
import { TRACE_ENGINES } from './clickhouse-engine.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { ALL, START_MS } from './samples.ts';

for (const engine of TRACE_ENGINES) annotatedTracesSuite(engine);

/** Number of traces. All are annotated `seen`, one in 10,000 `rare`. */
const TRACE_COUNT = 50_000;
const TEAM = { kind: 'team', teamId: 'team-0' } as const;

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(
    `traces by annotation among ${TRACE_COUNT} traces on ${engine.name}`,
    () => {
      let scratch: ScratchDatabase;
      let database: Database;
      const db = () => database.orm.em.fork().getKysely<Tables>();
      beforeAll(async () => {
        scratch = await engine.create();
        database = await scratch.openBare();
        const isPostgres = database.flavour === 'postgresql';
        const numbers = isPostgres
          ? sql`generate_series(0, ${TRACE_COUNT - 1}) as t(n)`
          : sql`(with recursive t(n) as (select 0 union all select n + 1 from t where n < ${TRACE_COUNT - 1}) select n from t)`;
        const startMs = sql`cast(${String(START_MS)} as bigint) + n`;
        await sql`
        insert into trace_summary (trace_id, trace_ref, team_id, key_hash, name, service, input_preview, start_ns, end_ns,
          start_ms, status, span_count, agent_names, agent_invocations, llm_calls, tool_calls, error_count, input_tokens,
          output_tokens, models, priced_calls, estimated_calls, gateway_calls, root_labels)
        select 'id-' || n, 'ref-' || n, 'team-' || (n % 100), 'key', 'chat', 'tests', '', (${startMs}) * 1000000,
          (${startMs}) * 1000000, ${startMs}, 'ok', 1, '[]', 0, 1, 0, 0, 1, 1, '[]', 0, 0, 0, 0
        from ${numbers}`.execute(db());
        const time = isPostgres ? sql`now()` : sql`0`;
        const insertAnnotations = (name: string, where: RawBuilder<unknown>) => sql`
        insert into annotation (id, trace_id, trace_ref, span_id, team_id, key_hash, trace_start_ms, name, annotator,
          label, score, created_at, created_by, updated_at, updated_by)
        select ${sql.lit(`${name}-`)} || n, 'id-' || n, 'ref-' || n, '', 'team-' || (n % 100), 'key', ${startMs},
          ${sql.lit(name)}, 'code', case when n % 10000 = 0 then 'bad' else 'good' end,
          case when n % 10000 = 0 then 0 else 1 end, ${time}, 'robot', ${time}, 'robot'
        from ${numbers} where ${where}`;
        await insertAnnotations('seen', sql`n >= 0`).execute(db());
        await insertAnnotations('rare', sql`n % 10000 = 0`).execute(db());
        if (isPostgres) await sql`analyze trace_summary`.execute(db());
        if (isPostgres) await sql`analyze annotation`.execute(db());
      });
      afterAll(() => scratch.remove());

      /** The plan of the first page of a search, and the traces on it. */
      async function firstPage(conditions: Partial<AnnotationConditions>, visibility: Visibility = ALL) {
        const search = { visibility, startMs: START_MS, conditions: { ...NO_ANNOTATION_CONDITIONS, ...conditions } };
        const visible = sql<boolean>`${visibleTo(visibility.kind, sql`${ownerOf(visibility)}`)(expressionBuilder())}`;
        const condition = await visibleAndAnnotated(db(), database.flavour, search, visible);
        const page = sql<{ trace_ref: string }>`
        select trace_ref from trace_summary where ${condition} and start_ms >= ${START_MS} and start_ms < ${START_MS * 2}
        order by trace_summary.start_ms desc, trace_summary.trace_ref desc limit 50`;
        const explain = database.flavour === 'postgresql' ? sql`explain (costs off)` : sql`explain query plan`;
        const { rows: plan } = await sql`${explain} ${page}`.execute(db());
        const { rows } = await page.execute(db());
        return { plan: JSON.stringify(plan), traces: rows.map((row) => row.trace_ref) };
      }

      it.each<[Partial<AnnotationConditions>, Visibility]>([
        [{ name: 'rare' }, ALL],
        [{ name: 'seen', label: 'bad' }, ALL],
        [{ name: 'seen', maxScore: 0.5 }, ALL],
        [{ name: 'rare', author: 'robot' }, ALL],
        [{ name: 'rare' }, TEAM],
        [{ label: 'bad', name: 'seen' }, TEAM],
      ])(
        'a search of few annotations, %j for %j, reads their traces by key, and no others',
        async (conditions, reader) => {
          const { plan, traces } = await firstPage(conditions, reader);
          expect(plan).toContain('trace_summary_trace_id_trace_ref_unique');
          expect(plan).not.toMatch(/SCAN trace_summary|Seq Scan|start_ms_trace_ref_index/i);
          expect(traces).toEqual(['ref-40000', 'ref-30000', 'ref-20000', 'ref-10000', 'ref-0']);
        },
      );

      it('a search of many annotations reads the newest traces, and looks up the annotations of each by key', async () => {
        const { plan, traces } = await firstPage({ name: 'seen' });
        expect(plan).toContain('trace_summary_start_ms_trace_ref_index');
        expect(plan).toContain('annotation_trace_id_trace_ref_span_id_name_created_by_unique');
        expect(plan).not.toMatch(/SCAN annotation|Seq Scan|USE TEMP B-TREE/i);
        expect(traces).toEqual(Array.from({ length: 50 }, (_, nth) => `ref-${TRACE_COUNT - 1 - nth}`));
      });

      it('a team finds its own traces by a name that the annotations of all teams have', async () => {
        expect((await firstPage({ name: 'seen' }, TEAM)).traces).toHaveLength(50);
        // Only traces of team-0 have the label `bad`.
        expect((await firstPage({ name: 'seen', label: 'bad' }, { kind: 'team', teamId: 'team-1' })).traces).toEqual(
          [],
        );
      });

      it.each<[string, Partial<AnnotationConditions>, Visibility]>([
        ['annotation_name_label_trace_start_ms_index', { name: 'seen', label: 'bad' }, ALL],
        ['annotation_name_score_trace_start_ms_index', { name: 'seen', maxScore: 0.5 }, ALL],
        ['annotation_team_id_name_trace_start_ms_index', { name: 'seen' }, TEAM],
        ['annotation_key_hash_name_trace_start_ms_index', { name: 'seen' }, { kind: 'key', keyHash: 'none' }],
      ])('annotations are found by %s', async (index, conditions, visibility) => {
        const query = annotatedQuery(
          database.flavour,
          { visibility, startMs: START_MS, conditions: { ...NO_ANNOTATION_CONDITIONS, ...conditions } },
          2_000,
        );
        const explain = database.flavour === 'postgresql' ? sql`explain (costs off)` : sql`explain query plan`;
        const { rows } = await sql`${explain} ${query}`.execute(db());
        expect(JSON.stringify(rows)).toContain(index);
      });
    },
  );
