import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { A_CALL, spanId, traceId } from './samples.ts';

/** Number of calls that are appended while others are read. */
const CALLS = 60;

describe.each(ENGINES)('reads of calls on $name', (engine) => {
  describe.skipIf(engine.skipReason !== null)('with the database', () => {
    let scratch: ScratchDatabase;
    beforeEach(async () => {
      scratch = await engine.create();
    });
    afterEach(() => scratch.remove());

    async function append({ calls }: Stores, nth: number): Promise<void> {
      const at = { traceId: traceId(nth), spanId: spanId(nth) };
      const names = { id: `call-${nth}`, callId: `call-${nth}` };
      const call = calls.encode({ spend: { ...A_CALL.spend, ...at, ...names }, span: { ...A_CALL.span, ...at } });
      // Only such calls are stored in a segment, which a read must not miss.
      expect(call).toMatchObject({ kind: 'root' });
      await calls.append([call]);
    }
    const isFound = async ({ spend }: Stores, nth: number): Promise<boolean> =>
      (await spend.findBySpans([`${traceId(nth)}:${spanId(nth)}`])).length === 1;

    it('find each call when its append has ended, also beside other reads and appends, in an exclusive store', async () => {
      const stores = await scratch.open({ isExclusive: true });
      expect(await isFound(stores, 0)).toBe(false);
      let isDone = false;
      const reading = (async () => {
        // oxlint-disable-next-line no-await-in-loop -- reads run one after the other, beside the appends
        while (!isDone) await isFound(stores, CALLS);
      })();
      const found = await Promise.all(
        Array.from({ length: CALLS }, async (_, nth) => {
          await append(stores, nth);
          return isFound(stores, nth);
        }),
      );
      isDone = true;
      await reading;
      expect(found).toEqual(Array.from({ length: CALLS }, () => true));
    });

    it('find the calls of another store over the same database, without exclusive use', async () => {
      const [reader, writer] = [await scratch.open(), await scratch.open()];
      expect(await isFound(reader, 1)).toBe(false);
      await append(writer, 1);
      expect(await isFound(reader, 1)).toBe(true);
    });
  });
});
