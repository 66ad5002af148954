import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { SessionActivity } from '../../src/domain/traces/sessions.ts';
import { labelsIn, NO_LABELS } from '../../src/domain/traces/trace-labels.ts';
import { NO_TRACE_FILTERS } from '../../src/domain/traces/trace-search.ts';
import type { TraceSummary } from '../../src/domain/traces/trace.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { A_CALL, ALL, spanId, traceId } from './samples.ts';

const ODD = 'a "quoted" \\ text, \u{1F600}, \u0001 and\nlines';

/** A call that the call log can hold, by number. */
function aCall(number: number, fields: Partial<SpendRow> = {}): CallRecord {
  const ids = { traceId: traceId(number), spanId: spanId(number) };
  const own = { id: `call-${number}`, callId: `call-${number}` };
  const error = fields.error?.message ?? null;
  return { spend: { ...A_CALL.spend, ...own, ...ids, ...fields }, span: { ...A_CALL.span, ...ids, error } };
}

const SEARCH = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, filters: NO_TRACE_FILTERS, after: null };
const labelsOf = ({ sessionId, userId, traces }: SessionActivity) => ({ sessionId, userId, traces });

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`labels of calls on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    let bare: Database;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
      bare = await scratch.openBare();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const commit = async (calls: readonly CallRecord[]): Promise<void> =>
      void (await stores.calls.append(calls.map((call) => stores.calls.encode(call))));
    const stored = ({ spend }: CallRecord): Promise<readonly SpendRow[]> =>
      stores.spend.findBySpans([`${spend.traceId}:${spend.spanId}`]);

    it('are stored, also the tags of the user agent', async () => {
      const agent = ['User-Agent: curl', 'User-Agent: curl/8.1'];
      const calls = [
        aCall(1, { endUser: ODD, sessionId: ODD, tags: [ODD, ...agent] }),
        aCall(2, { tags: agent }),
        aCall(3, { tags: [] }),
        aCall(4, { endUser: 'customer', callId: 'client-call' }),
        aCall(5, { tags: ['User-Agent: other'] }),
        aCall(6, { sessionId: 'session', error: { code: '500', message: ODD }, status: 'failure' }),
      ];
      await commit(calls);
      for (const call of calls) expect(await stored(call)).toEqual([call.spend]);
    });

    it('the trace has the labels of its call, except the user agent tags, before and after unfolding', async () => {
      const labels = { sessionId: 's', userId: 'u', tags: ['a', 'b'] };
      const agent = ['User-Agent: curl'];
      const labelled = aCall(1, { sessionId: 's', endUser: 'u', tags: ['b', 'a', ...agent] });
      const calls = [{ ...labelled, span: { ...labelled.span, labels } }, aCall(2, { tags: agent })];
      const prepared = calls.map((call) => stores.calls.encode(call, true));
      const appended = await (await stores.calls.append(prepared))();
      const rows = await stores.traces.listSummaries(
        { kind: 'all' },
        { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null },
        9,
      );
      const byTrace = (summaries: readonly TraceSummary[]) =>
        Object.fromEntries(summaries.map((summary) => [summary.traceId, labelsIn(summary)]));
      // `rootLabels` 3: the root states both the session and the user.
      const expected = { [traceId(1)]: { ...labels, rootLabels: 3 }, [traceId(2)]: NO_LABELS };
      expect(byTrace(rows)).toEqual(expected);
      expect(byTrace(appended)).toEqual(expected);
    });

    it.each([
      ['listed', () => stores.traces.sessions(ALL, SEARCH, 9).then((sessions) => sessions.map(labelsOf))],
      ['counted', () => stores.traces.countSessions(ALL, SEARCH)],
    ])(
      'sessions have the labels of their calls: the call log is unfolded before sessions are %s',
      async (how, read) => {
        const labels = { sessionId: 's', userId: 'u', tags: [] };
        const calls = [1, 2].map((number) => aCall(number, { sessionId: 's', endUser: 'u' }));
        await commit(calls.map((call) => ({ ...call, span: { ...call.span, labels } })));
        expect(stores.calls.backlog()).toBe(2);
        expect(await read()).toEqual(how === 'counted' ? 1 : [{ sessionId: 's', userId: 'u', traces: 2 }]);
      },
    );

    it('segments that an earlier version wrote without labels are read with empty labels', async () => {
      const calls = [aCall(1), aCall(2, { callId: 'client-call' })];
      await commit(calls);
      const [segment]: { readonly rows: string }[] = await bare.orm.em.fork().execute('select rows from call_segment');
      // A segment has its calls by profile, which is the values that they share. In a profile, the calls are a list of
      // lists, and the values for labels follow it.
      const profiles = JSON.parse(segment?.rows ?? '') as unknown[][];
      const earlier = profiles.map((profile) =>
        profile.slice(0, profile.findIndex((value) => Array.isArray(value) && Array.isArray(value[0])) + 1),
      );
      // Earlier versions wrote four values fewer, those for labels.
      expect(earlier.map(({ length }) => length)).toEqual(profiles.map(({ length }) => length - 4));
      await bare.orm.em.fork().execute('update call_segment set rows = ?', [JSON.stringify(earlier)]);
      for (const call of calls) expect(await stored(call)).toEqual([call.spend]);
    });
  });
