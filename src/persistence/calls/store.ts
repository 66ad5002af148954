import { sql, type Kysely } from 'kysely';
import type { CallRecord, CallStore, KeptCall } from '../../domain/calls/call-record.ts';
import { InvalidInput } from '../../domain/errors.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';
import { amountText, nsText } from '../../domain/storable.ts';
import type { SpanBatch } from '../../domain/traces/span.ts';
import type { TraceStore } from '../../domain/traces/store.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database/database.ts';
import { KeySpendEntity } from '../spend/entities/key-spend.ts';
import { SpanEntity } from '../traces/entities/span.ts';
import { SpendRowEntity } from '../spend/entities/spend-row.ts';
import { TraceSummaryEntity } from '../traces/entities/trace-summary.ts';
import { everyColumn, rowTable, tableWithout, tuplesIn } from '../database/rows.ts';
import type { StoresOptions } from '../stores.ts';
import type { Tables } from '../database/tables.ts';
import { createTextSlabs, type SlabPlace, textAt } from './text-slabs.ts';
import { traceRefOf } from '../traces/trace-ref.ts';
import { createCallLog } from './log.ts';
import { ownerOf } from './owner.ts';
import { createCallPacker, namesOfRow } from './rows.ts';
import type { PackedRoot } from './segments.ts';
import { createCallUnpacking } from './unpacking.ts';
import { createTotals } from '../spend/store.ts';
import { summaryOf, type SummaryRow } from '../traces/summary-rows.ts';

/**
 * A call whose span begins a trace of its own, in as little as can be: thousands wait, and the collector moves each of
 * them. Its names are read back from its bytes where somebody asks, which is seldom.
 */
class KeptRoot implements PackedRoot {
  readonly kind = 'root';
  readonly profile: PackedRoot['profile'];
  readonly cost: PackedRoot['cost'];
  readonly #rows: Buffer;
  readonly #rowStart: number;
  readonly #rowEnd: number;
  readonly #payloads: Buffer;
  readonly #payloadStart: number;
  readonly #payloadEnd: number;

  constructor({ profile, cost, row, payload }: Omit<PackedRoot, keyof KeptCall>) {
    this.profile = profile;
    this.cost = cost;
    this.#rows = row.slab;
    this.#rowStart = row.start;
    this.#rowEnd = row.end;
    this.#payloads = payload.slab;
    this.#payloadStart = payload.start;
    this.#payloadEnd = payload.end;
  }

  get row(): SlabPlace {
    return { slab: this.#rows, start: this.#rowStart, end: this.#rowEnd };
  }

  get payload(): SlabPlace {
    return { slab: this.#payloads, start: this.#payloadStart, end: this.#payloadEnd };
  }

  get callId(): string {
    return namesOfRow(textAt(this.row)).callId;
  }

  get traceId(): string {
    return namesOfRow(textAt(this.row)).traceId;
  }
}

/** A call inside a trace that may be there already, or one like no other: both stores take it as it is. */
interface KeptWhole extends KeptCall {
  readonly kind: 'whole';
  readonly record: CallRecord;
}

type Kept = KeptRoot | KeptWhole;

/** The call store with what the stores that are read need to know. */
export interface ReadableCallStore extends CallStore<Kept> {
  /** Resolves when everything committed before can be read. */
  readable(): Promise<void>;
}

/** The records of calls: made bytes one by one, as calls end, and committed as segments of a log (ADR 0035). */
export function createCallStore(
  database: Database,
  stores: { readonly spend: SpendStore; readonly traces: TraceStore },
  log: StoresOptions['log'],
): ReadableCallStore {
  const { orm, flavour, inFlight } = database;
  const summaryTable = rowTable(orm, 'trace_summary', TraceSummaryEntity);
  const spendTable = rowTable(orm, 'spend_row', SpendRowEntity);
  const pack = createCallPacker();
  const placeRow = createTextSlabs();
  const placePayload = createTextSlabs();
  const segments = createCallLog(database, {
    unpacking: createCallUnpacking(flavour, {
      spend_row: spendTable,
      trace_summary: tableWithout(summaryTable, 'trace_no'),
      span: rowTable(orm, 'span', SpanEntity),
    }),
    addToTotals: createTotals(flavour, rowTable(orm, 'key_spend', KeySpendEntity)),
    storeOneByOne,
    log,
  });

  async function storeOneByOne(records: readonly CallRecord[]): Promise<readonly TraceSummary[]> {
    if (records.length === 0) return [];
    await stores.spend.append(records.map(({ spend }) => spend));
    return stores.traces.ingest(records.map(batchOf));
  }

  async function summariesOf(calls: readonly KeptRoot[]): Promise<readonly TraceSummary[]> {
    if (calls.length === 0) return [];
    await segments.readable();
    const keys = calls.map(({ traceId, profile: { owner } }) => [traceId, traceRefOf(owner, traceId)]);
    const rows = await inFlight.run(() =>
      reading()
        .selectFrom('trace_summary')
        .select(everyColumn(summaryTable))
        .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, keys))
        .orderBy('trace_summary.trace_no')
        .$castTo<SummaryRow>()
        .execute(),
    );
    return rows.map(summaryOf);
  }
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });

  return {
    keep(call) {
      const { callId, traceId } = call.spend;
      refuseUnsound(call);
      const traceRef = call.span.parentSpanId === null ? traceRefOf(ownerOf(call.spend), traceId) : null;
      const packed = traceRef === null ? null : pack(call, traceRef);
      if (traceRef === null || packed === null) {
        for (const cost of [call.spend.cost, call.span.cost]) amountText(cost ?? 0n);
        for (const ns of [call.span.startNs, call.span.endNs]) nsText(ns);
        return { kind: 'whole', callId, traceId, record: call };
      }
      const { profile, row, payload } = packed;
      return new KeptRoot({ profile, cost: call.spend.cost, row: placeRow(row), payload: placePayload(payload) });
    },
    append: async (calls) => {
      const roots = calls.filter((call) => call.kind === 'root');
      const wholes = calls.flatMap((call) => (call.kind === 'whole' ? [call.record] : []));
      if (roots.length > 0) await segments.write(roots);
      const grown = await storeOneByOne(wholes);
      return async () => [...(await summariesOf(roots)), ...grown];
    },
    backlog: () => segments.backlog(),
    unfold: () => segments.step(),
    readable: () => segments.readable(),
  };
}

/** Throws InvalidInput for what no store holds: found here, it holds up no call that waits with it. */
export function refuseUnsound({ spend, span }: CallRecord): void {
  const { usage, startedAt, endedAt, firstByteAt } = spend;
  const sound =
    isWhole(span.inputTokens) &&
    isWhole(span.outputTokens) &&
    (usage === null ||
      (isWhole(usage.inputTokens) &&
        isWhole(usage.outputTokens) &&
        isWhole(usage.cacheReadTokens) &&
        isWhole(usage.cacheWriteTokens) &&
        isWhole(usage.reasoningTokens))) &&
    isWhole(startedAt.getTime()) &&
    isWhole(endedAt.getTime()) &&
    (firstByteAt === null || isWhole(firstByteAt.getTime()));
  if (!sound) throw new InvalidInput('A count or a time of a call is not a whole number.');
}

const isWhole = (value: number): boolean => Number.isSafeInteger(value);

const batchOf = ({ spend, span }: CallRecord): SpanBatch => ({
  owner: ownerOf(spend),
  spans: [span],
  begins: span.parentSpanId === null,
});
