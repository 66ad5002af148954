import { type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Visibility } from '../../domain/caller.ts';
import { storable } from '../../domain/storable.ts';
import type { ExportBody } from '../../domain/traces/packed.ts';
import type { SpanHead } from '../../domain/traces/span.ts';
import type { TraceKey, TraceStore } from '../../domain/traces/store.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database/database.ts';
import { type Placeholder, preparedQuery } from '../database/prepared-query.ts';
import { rowReader } from '../packed-rows/row-reader.ts';
import { tableWithout, textsInJson, tuplesInJson } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { type SpanRow, spanHeadOf } from './span-rows.ts';
import { type SpanSource, spanSources } from '../span-blocks/blocks.ts';
import { summaryOf, type SummaryRow } from './summary-rows.ts';
import type { TraceTables } from './ingest.ts';

/** A span with columns of its trace and of its body. `bytes` may be null for all but one of the spans of a body. */
export type FoundSpan = SpanRow &
  Pick<SummaryRow, 'trace_id' | 'team_id' | 'key_hash'> & {
    readonly format: ExportBody['format'] | null;
    readonly compression: ExportBody['compression'] | null;
    readonly bytes: Uint8Array | null;
  };

/** The reads of a trace store with prepared statements. */
export interface TraceReads extends Pick<TraceStore, 'listSummaries' | 'findSummaries' | 'listSpans' | 'listSpanPage'> {
  /** The stored traces with these keys, newest first. The caller runs it in `InFlight`. */
  summariesOf(traces: readonly TraceKey[]): Promise<readonly TraceSummary[]>;
  /** The span of these traces with this id; of several, that with the first trace ref. */
  findSpan(traces: readonly TraceKey[], spanId: string): Promise<FoundSpan | undefined>;
  /** The spans of a trace with these ids, in no particular order. Of the spans in one body, only one has the bytes. */
  findSpans(trace: TraceKey, spanIds: readonly string[]): Promise<readonly FoundSpan[]>;
}

/** A visibility as a condition on summaries. For a team or key, it includes the condition of the partial index. */
export function visibleTo(kind: Visibility['kind'], owner: RawBuilder<string>) {
  return (where: ExpressionBuilder<Tables, 'trace_summary'>): Expression<SqlBool> => {
    switch (kind) {
      case 'all':
        return where.lit(true);
      case 'team':
        return where.and([where('team_id', '=', owner), sql<SqlBool>`team_id <> ''`]);
      case 'key':
        return where.and([sql<SqlBool>`team_id = ''`, where('key_hash', '=', owner)]);
    }
  };
}

/** The team or key of a visibility; empty for all. */
export function ownerOf(visibility: Visibility): string {
  switch (visibility.kind) {
    case 'all':
      return '';
    case 'team':
      return visibility.teamId;
    case 'key':
      return visibility.keyHash;
  }
}

const byVisibility = <Query>(
  make: (kind: Visibility['kind']) => Query,
): Readonly<Record<Visibility['kind'], Query>> => ({
  all: make('all'),
  team: make('team'),
  key: make('key'),
});

const keysOf = (traces: readonly TraceKey[]): string =>
  JSON.stringify(traces.map(({ traceId, traceRef }) => [storable(traceId), storable(traceRef)]));

interface PageValues {
  readonly owner: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly afterMs: number;
  readonly afterRef: string;
  readonly limit: number;
}

interface LookupValues {
  readonly owner: string;
  readonly traceId: string;
  readonly traceRef: string;
}

interface SpanPageValues {
  readonly keys: string;
  readonly afterNs: string;
  readonly afterId: string;
  readonly limit: number;
}

/** The trace of a span, and the sort columns of spans. */
interface HeadRow extends Pick<SummaryRow, 'trace_id' | 'trace_ref'> {
  readonly by_start: unknown;
  readonly by_id: string;
}

/**
 * `in_body` is the number of the body of a span, null without a body. `place` is the position of the span among the
 * found spans of that body, from 1.
 */
interface HeldSpan {
  readonly in_body: string | null;
  readonly place: number;
}

/** `packedRows`: SQLite returns each row as one JSON list (`packed-rows/README.md`). */
export function createTraceReads(
  { orm, flavour, inFlight }: Database,
  tables: TraceTables,
  packedRows: boolean,
): TraceReads {
  const summaryRows = rowReader(flavour, tableWithout(tables.summary, 'trace_no'), packedRows);
  const headRows = rowReader(
    flavour,
    tableWithout(tables.span, 'trace_no', 'body_no', 'body_at', 'payload'),
    packedRows,
  );
  const spanRows = rowReader(flavour, tables.span, packedRows);
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });
  const summaries = (db: Kysely<Tables>) =>
    db
      .selectFrom('trace_summary')
      .select(summaryRows.selection)
      .orderBy('trace_summary.start_ms', 'desc')
      .orderBy('trace_summary.trace_ref', 'desc');
  const summariesIn = (rows: readonly object[]): readonly TraceSummary[] =>
    rows.map((row) => summaryOf(summaryRows.rowOf(row)));
  const sources = spanSources(flavour, tables.span);
  const spansOf = (db: Kysely<Tables>, source: SpanSource, keys: RawBuilder<string>) =>
    db
      .selectFrom('trace_summary')
      .innerJoin(source, 'span.trace_no', 'trace_summary.trace_no')
      .where(sql`(trace_summary.trace_id, trace_summary.trace_ref)`, 'in', tuplesInJson(flavour, 2, keys));

  const pages = byVisibility((kind) => {
    const page = (db: Kysely<Tables>, given: Placeholder<PageValues>) =>
      summaries(db)
        .where(visibleTo(kind, given('owner')))
        .where('start_ms', '>=', given('startMs'))
        .limit(given('limit'));
    // Each query has a single upper bound: with two, SQLite may start at the higher bound and scan all rows between
    // them.
    return {
      first: preparedQuery((db, given: Placeholder<PageValues>) =>
        page(db, given).where('start_ms', '<', given('endMs')),
      ),
      afterCursor: preparedQuery((db, given: Placeholder<PageValues>) =>
        page(db, given).where(({ eb, refTuple, tuple }) =>
          eb(refTuple('start_ms', 'trace_ref'), '<', tuple(given('afterMs'), given('afterRef'))),
        ),
      ),
    };
  });

  const lookups = byVisibility((kind) => {
    const byTraceId = (db: Kysely<Tables>, given: Placeholder<LookupValues>) =>
      summaries(db)
        .where(visibleTo(kind, given('owner')))
        .where('trace_id', '=', given('traceId'));
    return {
      byTraceId: preparedQuery(byTraceId),
      byTraceRef: preparedQuery((db, given: Placeholder<LookupValues>) =>
        byTraceId(db, given).where('trace_ref', '=', given('traceRef')),
      ),
    };
  });

  const summariesByKeys = preparedQuery((db, given: Placeholder<{ readonly keys: string }>) =>
    summaries(db).where(sql`(trace_id, trace_ref)`, 'in', tuplesInJson(flavour, 2, given('keys'))),
  );

  const headsOf = (db: Kysely<Tables>, source: SpanSource, keys: RawBuilder<string>) =>
    spansOf(db, source, keys)
      .select([
        'trace_summary.trace_id',
        'trace_summary.trace_ref',
        'span.start_ns as by_start',
        'span.span_id as by_id',
      ])
      .select(headRows.selection);
  /**
   * Spans of rows and blocks, sorted together. The sort columns are not selected: a start in ns exceeds JavaScript
   * numbers.
   */
  const inOrder = (db: Kysely<Tables>, headsIn: (source: SpanSource) => Expression<HeadRow>) => {
    const [rows, blocks] = [headsIn(sources.rows), headsIn(sources.blocks)];
    return db
      .selectFrom(sql<HeadRow>`(select * from ${rows} as r union all select * from ${blocks} as s)`.as('head'))
      .select(['head.trace_id', 'head.trace_ref'])
      .select(headRows.names.map((name) => sql.ref(`head.${name}`).as(name)))
      .orderBy('head.by_start')
      .orderBy('head.by_id');
  };
  const wholeTraces = preparedQuery((db, given: Placeholder<{ readonly keys: string }>) =>
    inOrder(db, (source) => headsOf(db, source, given('keys'))),
  );

  const isAfterCursor = (given: Placeholder<SpanPageValues>) =>
    sql<boolean>`(span.start_ns, span.span_id) > (cast(${given('afterNs')} as bigint), ${given('afterId')})`;
  const spanPage = (afterCursor: boolean) =>
    preparedQuery((db, given: Placeholder<SpanPageValues>) => {
      // Each source has a limit, so that fewer rows are sorted.
      const first = (source: SpanSource) =>
        headsOf(db, source, given('keys'))
          .$if(afterCursor, (query) => query.where(isAfterCursor(given)))
          .orderBy('span.start_ns')
          .orderBy('span.span_id')
          .limit(given('limit'));
      return inOrder(db, first).limit(given('limit'));
    });
  const spanPages = { first: spanPage(false), afterCursor: spanPage(true) };

  const oneSpan = preparedQuery((db, given: Placeholder<{ readonly keys: string; readonly spanId: string }>) => {
    const spanIn = (source: SpanSource) =>
      spansOf(db, source, given('keys'))
        .leftJoin('export_body', 'export_body.body_no', 'span.body_no')
        .where('span.span_id', '=', given('spanId'))
        .select(['trace_summary.trace_id', 'trace_summary.team_id', 'trace_summary.key_hash'])
        .select(spanRows.selection)
        .select(['export_body.format', 'export_body.compression', 'export_body.bytes'])
        .select('trace_summary.trace_ref');
    return spanIn(sources.rows).unionAll(spanIn(sources.blocks)).orderBy('trace_ref').limit(1);
  });

  /** Joins a body to only one of its spans, so that the result contains the bytes once. */
  const spansByIds = preparedQuery((db, given: Placeholder<{ readonly keys: string; readonly spanIds: string }>) => {
    const spansIn = (source: SpanSource) =>
      spansOf(db, source, given('keys'))
        .where('span.span_id', 'in', textsInJson(flavour, given('spanIds')))
        .select(['trace_summary.trace_id', 'trace_summary.team_id', 'trace_summary.key_hash'])
        .select(spanRows.selection)
        .select('span.body_no as in_body');
    const [rows, blocks] = [spansIn(sources.rows), spansIn(sources.blocks)];
    const all = sql`select * from ${rows} as r union all select * from ${blocks} as s`;
    const numberedSpans = sql<Pick<SummaryRow, 'trace_id' | 'team_id' | 'key_hash'> & HeldSpan>`(
      select a.*, row_number() over (partition by a.in_body) as place from (${all}) as a)`;
    return db
      .selectFrom(numberedSpans.as('found'))
      .leftJoin('export_body', (join) =>
        join.onRef('export_body.body_no', '=', 'found.in_body').on('found.place', '=', sql.lit(1)),
      )
      .select(['found.trace_id', 'found.team_id', 'found.key_hash'])
      .select(spanRows.names.map((name) => sql.ref(`found.${name}`).as(name)))
      .select(['export_body.format', 'export_body.compression', 'export_body.bytes']);
  });
  const foundOf = (row: object): FoundSpan => ({
    ...(row as Omit<FoundSpan, keyof SpanRow>),
    ...spanRows.rowOf(row),
  });

  return {
    listSummaries: (visibility, { startMs, endMs, after }, limit) =>
      inFlight.run(async () => {
        const { first, afterCursor } = pages[visibility.kind];
        const values = { owner: ownerOf(visibility), startMs, endMs, limit };
        // The upper bound of the query is the cursor or the end of the window, whichever is lower.
        const rows =
          after === null || after.startMs >= endMs
            ? await first(reading(), { ...values, afterMs: 0, afterRef: '' })
            : await afterCursor(reading(), { ...values, afterMs: after.startMs, afterRef: storable(after.traceRef) });
        return summariesIn(rows);
      }),
    findSummaries: (visibility, traceId, traceRef) =>
      inFlight.run(async () => {
        const { byTraceId, byTraceRef } = lookups[visibility.kind];
        const values = { owner: ownerOf(visibility), traceId: storable(traceId), traceRef: storable(traceRef ?? '') };
        const lookup = traceRef === null ? byTraceId : byTraceRef;
        return summariesIn(await lookup(reading(), values));
      }),
    summariesOf: async (traces) => summariesIn(await summariesByKeys(reading(), { keys: keysOf(traces) })),
    listSpans: (traces) =>
      inFlight.run(async () => {
        const spans = new Map<string, SpanHead[]>(traces.map(({ traceRef }) => [traceRef, []]));
        for (const row of await wholeTraces(reading(), { keys: keysOf(traces) }))
          spans.get(row.trace_ref)?.push(spanHeadOf(row.trace_id, headRows.rowOf(row)));
        return spans;
      }),
    listSpanPage: (trace, after, limit) =>
      inFlight.run(async () => {
        const keys = keysOf([trace]);
        const values = { keys, afterNs: String(after?.startNs ?? 0n), afterId: after?.spanId ?? '', limit };
        const page = after === null ? spanPages.first : spanPages.afterCursor;
        const rows = await page(reading(), values);
        return rows.map((row) => spanHeadOf(trace.traceId, headRows.rowOf(row)));
      }),
    findSpan: (traces, spanId) =>
      inFlight.run(async () => {
        const [row] = await oneSpan(reading(), { keys: keysOf(traces), spanId: storable(spanId) });
        return row && foundOf(row);
      }),
    findSpans: (trace, spanIds) =>
      inFlight.run(async () => {
        const values = { keys: keysOf([trace]), spanIds: JSON.stringify(spanIds.map(storable)) };
        return (await spansByIds(reading(), values)).map(foundOf);
      }),
  };
}
