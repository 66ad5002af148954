import { readdirSync } from 'node:fs';
import { Migrator } from '@mikro-orm/migrations';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/persistence/database/database.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

async function tablesOf({ orm }: Database): Promise<readonly string[]> {
  const tables = await orm.em.fork().getKysely<never>().introspection.getTables();
  return tables.map(({ name, isView }) => (isView ? `${name} (view)` : name)).toSorted();
}

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`the schema on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeEach(async () => {
      scratch = await engine.createEmpty();
    });
    afterEach(() => scratch.remove());

    it('equals the declaration of the entities after the migrations', async () => {
      await scratch.open();
      const { orm } = await scratch.openBare();
      expect((await orm.schema.getUpdateSchemaSQL({ wrap: false })).trim()).toBe('');
      // False: the entities need no further migration.
      expect(await new Migrator(orm.em).checkSchema()).toBe(false);
    });

    it('is reported as different when an index is missing', async () => {
      await scratch.open();
      const { orm } = await scratch.openBare();
      await orm.em.fork().execute('drop index trace_summary_start_ms_trace_ref_index');
      expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).toContain('trace_summary_start_ms_trace_ref_index');
    });

    it('migrates up, down to an empty database, and up again', async () => {
      const database = await scratch.openBare();
      const migrator = new Migrator(database.orm.em);
      await migrator.up();
      const tables = await tablesOf(database);
      expect(tables).toEqual([
        'a2a_agent',
        'access_group',
        'activity_process',
        'admission_counter',
        'admission_process',
        'annotation',
        'audit_entry',
        'budget',
        'budget_window',
        'call_note',
        'call_segment',
        'catalog_change',
        'catalog_recorded',
        'catalog_release',
        'catalog_span',
        'checkout',
        'coding_agent',
        'command_line_session',
        'credential',
        'customer',
        'decision',
        'decision_outcome',
        'deployment',
        'export_body',
        'free_tier_use',
        'gateway_activity',
        'guardrail',
        'guardrail_day',
        'guardrail_run',
        'health_check',
        'invitation',
        'job',
        'key_spend',
        'lens',
        'lens_answer',
        'lens_dataset',
        'lens_dataset_revision',
        'lens_finding',
        'lens_review',
        'lens_run',
        'lens_signal_config',
        'lens_trace_signal',
        'lens_tracing_key',
        'lens_worker',
        'mcp_server',
        'mcp_toolset',
        'memory',
        'model_fallback',
        'organization',
        'organization_member',
        'pass_through_endpoint',
        'payment_event',
        'payment_object',
        'pending_sign_in',
        'plugin',
        'policy',
        'policy_attachment',
        'project',
        'prompt',
        'response',
        'retired_secret',
        'schema_migration',
        'search_tool',
        'settings_section',
        'sheet_trace',
        'span',
        'spans (view)',
        'spend (view)',
        'spend_day',
        'spend_day_label',
        'spend_row',
        'tag',
        'team',
        'team_member',
        'token_key',
        'token_mapping',
        'tool',
        'tool_call',
        'tool_day',
        'tool_override',
        'trace_summary',
        'traces (view)',
        'upstream_object',
        'user_account',
        'vector_store',
        'vector_store_index',
        'virtual_key',
        'workflow_event',
        'workflow_message',
        'workflow_run',
      ]);
      await migrator.down({ to: 0 });
      expect(await tablesOf(database)).toEqual(['schema_migration']);
      await migrator.up();
      expect(await tablesOf(database)).toEqual(tables);
    });

    it('is migrated once when processes start together on an empty database', async () => {
      await Promise.all([scratch.open(), scratch.open(), scratch.open()]);
      const { orm } = await scratch.openBare();
      const applied = await sql<{ name: string }>`select name from schema_migration order by name`.execute(
        orm.em.fork().getKysely<never>(),
      );
      const folder = engine.name === 'postgresql' ? 'postgresql' : 'sqlite';
      const known = readdirSync(`src/persistence/migrations/${folder}`).filter((file) => file.endsWith('.ts'));
      expect(applied.rows.map(({ name }) => `${name}.ts`)).toEqual(known.toSorted());
    });
  });

it('both engines have migrations with the same names', () => {
  const [sqlite, postgresql] = ['sqlite', 'postgresql'].map((folder) =>
    readdirSync(`src/persistence/migrations/${folder}`).toSorted(),
  );
  expect(sqlite).toEqual(postgresql);
});
