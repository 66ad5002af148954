import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { A_CALL } from './samples.ts';

/**
 * Number of calls in the call log, then the spend rows of a call and the span counts of its traces. Reading rows first
 * unfolds the call log.
 */
async function stateOf(stores: Stores, { spend }: CallRecord) {
  const backlog = stores.calls.backlog();
  const rows = await stores.spend.findBySpans([`${spend.traceId}:${spend.spanId}`]);
  const traces = await stores.traces.findSummaries({ kind: 'all' }, spend.traceId, null);
  return { backlog, rows, spans: traces.map(({ spanCount }) => spanCount) };
}

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`call log on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeAll(async () => {
      scratch = await engine.create();
    });
    afterAll(() => scratch.remove());

    it.each([
      { callLog: true, backlog: 1 },
      { callLog: false, backlog: 0 },
    ])(
      'with `callLog: $callLog`, $backlog calls are in the call log, and a read finds the rows of the call',
      async (about) => {
        const stores = await scratch.open({ callLog: about.callLog });
        await stores.calls.append([stores.calls.encode(A_CALL)]);
        expect(await stateOf(stores, A_CALL)).toEqual({ backlog: about.backlog, rows: [A_CALL.spend], spans: [1] });
        await scratch.clear();
      },
    );
  });
