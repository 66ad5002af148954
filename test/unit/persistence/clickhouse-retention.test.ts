import { expect, it } from 'vitest';
import type { ClickHouse } from '../../../src/persistence/clickhouse/client.ts';
import { createSerializer } from '../../../src/persistence/database/exclusive-work.ts';
import { createClickHouseRemoval } from '../../../src/persistence/clickhouse/trace-removal.ts';

interface TraceRow {
  readonly trace_id: string;
  readonly trace_ref: string;
}

const refOf = ({ trace_ref: ref }: TraceRow): string => ref;

/** A server that answers the statements of retention. Only summaries and list entries have rows. */
function aServer(tables: Readonly<Record<'trace_by_start' | 'trace_summary', TraceRow[]>>) {
  const searched: string[] = [];
  const server: Pick<ClickHouse, 'rows' | 'run'> = {
    rows<Row>(query: string, { most = 0 }: Readonly<Record<string, unknown>> = {}) {
      const table = /^select trace_id, trace_ref from (trace_by_start|trace_summary) final/.exec(query)?.[1];
      const found = table === undefined ? [] : tables[table as keyof typeof tables].slice(0, Number(most));
      if (table !== undefined) searched.push(table);
      return Promise.resolve(found as readonly unknown[] as readonly Row[]);
    },
    run(statement) {
      const table = /^delete from (trace_by_start|trace_summary) /.exec(statement)?.[1];
      if (table === undefined) return Promise.resolve();
      const rows = tables[table as keyof typeof tables];
      const kept = rows.filter(({ trace_ref: ref }) => !statement.includes(`'${ref}'`));
      rows.splice(0, rows.length, ...kept);
      return Promise.resolve();
    },
  };
  return { server: server as ClickHouse, searched };
}

const trace = (name: string): TraceRow => ({ trace_id: `id-${name}`, trace_ref: `ref-${name}` });

it('retention removes summaries that an interrupted removal left, after all listed traces', async () => {
  // The removal of `left` stopped before its last step: only its summary exists.
  const tables = {
    trace_by_start: [trace('one'), trace('two')],
    trace_summary: [trace('left'), trace('one'), trace('two')],
  };
  const { server, searched } = aServer(tables);
  const removal = createClickHouseRemoval(server, undefined, createSerializer());
  // A full page leaves the rest to the next call.
  expect(await removal.removeStartedBefore(1_000, 2)).toBe(2);
  expect(tables.trace_summary.map(refOf)).toEqual(['ref-left']);
  expect(searched).toEqual(['trace_by_start']);
  expect(await removal.removeStartedBefore(1_000, 2)).toBe(1);
  expect(tables).toEqual({ trace_by_start: [], trace_summary: [] });
  expect(await removal.removeStartedBefore(1_000, 2)).toBe(0);
});
