import type { BodyReader } from '../../domain/traces/packed.ts';
import { payloadText } from '../../domain/traces/span-rows.ts';
import type { TraceKey } from '../../domain/traces/store.ts';
import { storable } from '../../domain/storable.ts';
import type { Mutex } from '../database/mutex.ts';
import type { TraceRemoval } from '../traces/removal.ts';
import { createBodyRelease } from './body-release.ts';
import type { ClickHouse } from './client.ts';
import { CLICKHOUSE_TABLES } from './schema.ts';
import { listOf, type DeletionMode } from './statements.ts';
import { inBatches } from './trace-lookup.ts';

const DAY_MS = 86_400_000;
/** Maximum number of traces in one statement, which contains their ids as text. */
const TRACES_PER_STATEMENT = 500;
/** Payload of a redacted span. */
const EMPTY_PAYLOAD = payloadText({
  input: '',
  output: '',
  attributes: {},
  resourceAttributes: {},
  events: [],
  links: [],
});

/** A trace of one owner, by its columns. */
interface KeyRow {
  readonly trace_id: string;
  readonly trace_ref: string;
}

/** A trace whose redaction was interrupted, with the time of the redaction, Unix ms. */
interface UnfinishedRow extends KeyRow {
  readonly latest_ms: string;
}

const REDACTION_COLUMNS = ['trace_id', 'trace_ref', 'at_ms'] as const;

const idsOf = (traces: readonly KeyRow[]): ReadonlySet<string> => new Set(traces.map(({ trace_id: id }) => id));

/** Work that needs both enters `bodyMutex` first. */
interface Mutexes {
  /** For changes of bodies, by all processes. */
  readonly bodyMutex: Mutex;
  /** For read-modify-write work on traces by this process, including ingest. */
  readonly traceMutex: Mutex;
}

interface ClickHouseRemoval extends TraceRemoval {
  /** Resolves to the work that completes interrupted redactions; null without one. */
  completeRedactions(): Promise<(() => Promise<void>) | null>;
}

/** Conditions for the rows of these traces, one per statement. */
function* conditionsOf(traces: readonly KeyRow[]): Generator<string> {
  for (let at = 0; at < traces.length; at += TRACES_PER_STATEMENT) {
    const batch = traces.slice(at, at + TRACES_PER_STATEMENT);
    const [ids, refs] = [batch.map(({ trace_id: id }) => id), batch.map(({ trace_ref: ref }) => ref)];
    yield `trace_id in ${listOf(ids)} and trace_ref in ${listOf(refs)}`;
  }
}

/**
 * Deletes or redacts traces. Each removal finds its traces by one table and changes that table last, so that the next
 * removal completes an interrupted one. For retention this table is `trace_by_start`; for an explicit removal,
 * `trace_summary`. When `trace_by_start` has no expired traces, retention completes interrupted explicit removals of
 * expired traces. Retention hides rows immediately and frees the disk with the next merge. An explicit removal frees
 * the disk immediately. `redaction` lists the traces of a redaction until its end. The next start repeats a redaction
 * that was interrupted, also after an ingest of more spans of its traces.
 */
export function createClickHouseRemoval(
  server: ClickHouse,
  bodies: BodyReader | undefined,
  { bodyMutex, traceMutex }: Mutexes,
): ClickHouseRemoval {
  const release = createBodyRelease(server, bodies);
  /** Runs an explicit removal. Ingest does not wait while the removal waits for another process. */
  const exclusively = <Result>(work: () => Promise<Result>): Promise<Result> => bodyMutex(() => traceMutex(work));

  /** `newest_first` is the negative start. */
  const oldest = (beforeMs: number, most: number): Promise<readonly KeyRow[]> =>
    server.rows<KeyRow>(
      `select trace_id, trace_ref from trace_by_start final where newest_first > -{before:Int64}
       order by newest_first desc limit {most:UInt32}`,
      { before: beforeMs, most },
    );

  /** Reads all summaries, so it is called only when `trace_by_start` has no trace that began before this time. */
  const oldestSummaries = (beforeMs: number, most: number): Promise<readonly KeyRow[]> =>
    server.rows<KeyRow>(
      `select trace_id, trace_ref from trace_summary final where start_ms < {before:Int64}
       order by start_ms limit {most:UInt32}`,
      { before: beforeMs, most },
    );

  /** The traces of a list that have a summary. */
  async function findStored(traces: readonly TraceKey[]): Promise<readonly KeyRow[]> {
    const refs = new Set(traces.map(({ traceRef }) => traceRef));
    const found = await inBatches(
      traces.map(({ traceId }) => storable(traceId)),
      (ids) =>
        server.rows<KeyRow>(
          'select trace_id, trace_ref from trace_summary final where trace_id in {ids:Array(String)}',
          { ids },
        ),
    );
    return found.filter(({ trace_ref: ref }) => refs.has(ref));
  }

  async function deleteFrom(table: string, traces: readonly KeyRow[], how: DeletionMode): Promise<void> {
    for (const condition of conditionsOf(traces))
      await server.run(
        how === 'masked'
          ? `delete from ${table} where ${condition}`
          : `alter table ${table} delete where ${condition} settings mutations_sync = 1`,
      );
  }

  /**
   * The bodies with payloads of these traces. Spans refer to their bodies. For traces without spans, which an
   * interrupted removal left, all bodies are searched.
   */
  async function bodiesOf(traces: readonly KeyRow[]): Promise<readonly string[]> {
    const refs = new Set(traces.map(({ trace_ref: ref }) => ref));
    const rows = await inBatches(
      traces.map(({ trace_id: id }) => id),
      (ids) =>
        server.rows<{ trace_ref: string; body_id: string }>(
          `select distinct trace_ref, body_id from span where trace_id in {ids:Array(String)}`,
          { ids },
        ),
    );
    const found = rows.filter(({ trace_ref: ref }) => refs.has(ref));
    const withSpans = new Set(found.map(({ trace_ref: ref }) => ref));
    const unreferenced = await bodiesWith(traces.filter(({ trace_ref: ref }) => !withSpans.has(ref)));
    const referenced = found.map(({ body_id: id }) => id).filter((id) => id !== '');
    return [...new Set([...referenced, ...unreferenced])];
  }

  /**
   * The bodies with payloads of the ids of these traces. Searches all bodies: after an interrupted removal, a body may
   * have no span that refers to it.
   */
  async function bodiesWith(traces: readonly KeyRow[]): Promise<readonly string[]> {
    const rows = await inBatches(idsOf(traces), (ids) =>
      server.rows<{ body_id: string }>(
        'select distinct body_id from export_body where hasAny(trace_ids, {ids:Array(String)})',
        { ids },
      ),
    );
    return [...new Set(rows.map(({ body_id: id }) => id))];
  }

  /** Enters the mutex before it deletes anything: a timeout of the mutex must not leave bodies without spans. */
  async function removeOldest(traces: readonly KeyRow[]): Promise<number> {
    if (traces.length === 0) return 0;
    return bodyMutex(async () => {
      const bodyIds = await bodiesOf(traces);
      await deleteFrom('trace_summary', traces, 'masked');
      await deleteFrom('span', traces, 'masked');
      await release(bodyIds, idsOf(traces), 'masked');
      await deleteFrom('trace_by_start', traces, 'masked');
      return traces.length;
    });
  }

  async function removeStored(traces: readonly KeyRow[]): Promise<number> {
    if (traces.length === 0) return 0;
    const bodyIds = await bodiesWith(traces);
    await deleteFrom('span', traces, 'rewritten');
    await release(bodyIds, idsOf(traces), 'rewritten');
    await deleteFrom('trace_by_start', traces, 'rewritten');
    await deleteFrom('redaction', traces, 'rewritten');
    await deleteFrom('trace_summary', traces, 'rewritten');
    return traces.length;
  }

  async function redactStored(stored: readonly KeyRow[], atMs: number): Promise<void> {
    const bodyIds = await bodiesWith(stored);
    const update = async (table: string, changes: string): Promise<void> => {
      for (const condition of conditionsOf(stored))
        await server.run(`alter table ${table} update ${changes} where ${condition} settings mutations_sync = 1`);
    };
    const payload = listOf([EMPTY_PAYLOAD]);
    const textChanges = `input_preview = '', source = null`;
    const summaryChanges = `redacted_ms = ${atMs}, preview_ns = null, session_id = null, user_id = null, tags = null, root_labels = 0, ${textChanges}`;
    await update('span', `body_id = '', body_at = null, payload = ${payload}, error = null, ${textChanges}`);
    await release(bodyIds, idsOf(stored), 'rewritten');
    await update('trace_by_start', summaryChanges);
    await update('trace_summary', summaryChanges);
  }

  async function redactListed(traces: readonly TraceKey[], atMs: number): Promise<void> {
    const stored = await findStored(traces);
    if (stored.length === 0) return;
    const rows = stored.map(({ trace_id: id, trace_ref: ref }) => JSON.stringify([id, ref, atMs]));
    await server.insert('redaction', REDACTION_COLUMNS, rows);
    await redactStored(stored, atMs);
    await deleteFrom('redaction', stored, 'rewritten');
  }

  const unfinishedRedactions = (): Promise<readonly UnfinishedRow[]> =>
    server.rows<UnfinishedRow>(
      'select trace_id, trace_ref, max(at_ms) as latest_ms from redaction group by trace_id, trace_ref',
    );

  /** Runs inside the mutexes, because another process may be at work on a redaction that this process has found. */
  async function repeatUnfinished(): Promise<void> {
    const byTime = Map.groupBy(await unfinishedRedactions(), ({ latest_ms: ms }) => ms);
    for (const [ms, rows] of byTime) {
      const traces = rows.map(({ trace_id: traceId, trace_ref: traceRef }) => ({ traceId, traceRef }));
      await redactStored(await findStored(traces), Number(ms));
      await deleteFrom('redaction', rows, 'rewritten');
    }
  }

  /**
   * Drops the partitions of earlier days that have no rows left. Hidden rows of other days stay on the disk until a
   * merge.
   */
  async function dropEmptyDays(beforeMs: number): Promise<void> {
    const beforeDay = Math.floor(beforeMs / DAY_MS);
    for (const table of CLICKHOUSE_TABLES) {
      const days = await server.rows<{ day: string }>(
        `select distinct partition as day from system.parts
         where database = currentDatabase() and table = {table:String} and active
           and toInt64(partition) < {beforeDay:Int64}`,
        { table, beforeDay },
      );
      // Bodies of a day without spans are left over from a killed process.
      const countedTable = table === 'export_body' ? 'span' : table;
      for (const { day } of days) {
        const [count] = await server.rows<{ rows: string }>(
          `select count() as rows from ${countedTable} where _partition_id = {day:String}`,
          { day },
        );
        if (count?.rows === '0') await server.run(`alter table ${table} drop partition ${Number(day)}`);
      }
    }
  }

  return {
    async removeStartedBefore(beforeMs, most) {
      const listed = await removeOldest(await oldest(beforeMs, most));
      if (listed === most) return listed;
      // Empty days are dropped before the search of all summaries, which may time out.
      await dropEmptyDays(beforeMs);
      // Explicit removals that stopped before their last step left these summaries.
      return listed + (await removeOldest(await oldestSummaries(beforeMs, most - listed)));
    },
    remove: (traces) => exclusively(async () => removeStored(await findStored(traces))),
    redact: (traces, atMs) => exclusively(() => redactListed(traces, atMs)),
    completeRedactions: async () =>
      (await unfinishedRedactions()).length === 0 ? null : () => exclusively(repeatUnfinished),
  };
}
