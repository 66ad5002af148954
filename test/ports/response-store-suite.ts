import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SealedResponse, SealedResponseStore } from '../../src/domain/responses/stored-response.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

/** Limit in bytes that no test reaches. */
const UNREACHED_BYTES = 1_000_000;

const aResponse = (id: string, overrides: Partial<SealedResponse> = {}): SealedResponse => ({
  id,
  previousId: null,
  owner: { teamId: 't', keyHash: 'a'.repeat(64) },
  createdAt: new Date('2026-11-21T00:00:00.001Z'),
  sealed: Buffer.from([0, 1, 255, 39, 34]),
  ...overrides,
});

/** Contract of every SealedResponseStore. */
export function responseStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`SealedResponseStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let responses: SealedResponseStore;
    beforeAll(async () => {
      scratch = await engine.create();
      ({ responses } = await scratch.open());
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    /** Responses in the order of their ids, each with its bytes as a Buffer. */
    const plain = (found: readonly SealedResponse[] | null) =>
      found
        ?.map((response) => ({ ...response, sealed: Buffer.from(response.sealed) }))
        .toSorted((left, right) => (left.id < right.id ? -1 : 1));
    const chainOf = async (id: string, turns = 100, bytes = UNREACHED_BYTES) =>
      (await responses.chain(id, turns, bytes)).map((response) => response.id);

    it('returns responses unchanged, and no unknown ones', async () => {
      const first = aResponse('resp_1');
      const second = aResponse('resp_2', { previousId: 'resp_1', owner: { teamId: null, keyHash: 'b' } });
      await responses.add([first, second]);
      expect(plain(await responses.find(['resp_2', 'resp_1', "resp_'"], UNREACHED_BYTES))).toEqual([first, second]);
      expect(await responses.find([], UNREACHED_BYTES)).toEqual([]);
      expect(await responses.find(['resp_3'], 0)).toEqual([]);
    });

    it('keeps the first of two responses with one id', async () => {
      await responses.add([aResponse('resp_1')]);
      await responses.add([aResponse('resp_1', { sealed: Buffer.from('other') }), aResponse('resp_2')]);
      expect(plain(await responses.find(['resp_1', 'resp_2'], UNREACHED_BYTES))).toEqual([
        aResponse('resp_1'),
        aResponse('resp_2'),
      ]);
    });

    it('adds more responses than one statement contains', async () => {
      const many = Array.from({ length: 120 }, (_, index) => aResponse(`resp_${String(index).padStart(3, '0')}`));
      await responses.add(many);
      const ids = many.map(({ id }) => id);
      expect(plain(await responses.find(ids, UNREACHED_BYTES))?.map(({ id }) => id)).toEqual(ids);
    });

    it('returns null above the byte limit', async () => {
      await responses.add([aResponse('resp_1'), aResponse('resp_2')]);
      // Each response has 5 bytes.
      expect(await responses.find(['resp_1', 'resp_2'], 9)).toBeNull();
      expect(await responses.find(['resp_1', 'resp_2'], 10)).toHaveLength(2);
    });

    it('returns a conversation, newest first', async () => {
      await responses.add([
        aResponse('resp_1'),
        aResponse('resp_2', { previousId: 'resp_1' }),
        aResponse('resp_3', { previousId: 'resp_2' }),
        aResponse('resp_aside', { previousId: 'resp_1' }),
      ]);
      expect(await chainOf('resp_3')).toEqual(['resp_3', 'resp_2', 'resp_1']);
      expect(await chainOf('resp_aside')).toEqual(['resp_aside', 'resp_1']);
      expect(await chainOf('resp_none')).toEqual([]);
      expect(plain(await responses.chain('resp_1', 1, 1))).toEqual([aResponse('resp_1')]);
    });

    it('ends a chain at a missing response and at its limits, also in a cycle', async () => {
      await responses.add([
        aResponse('resp_2', { previousId: 'resp_1' }),
        aResponse('resp_3', { previousId: 'resp_2' }),
        aResponse('resp_round', { previousId: 'resp_round' }),
      ]);
      expect(await chainOf('resp_3')).toEqual(['resp_3', 'resp_2']);
      expect(await chainOf('resp_3', 1)).toEqual(['resp_3']);
      // Each response has 5 bytes. The next one is added while those before it do not exceed the limit.
      expect(await chainOf('resp_3', 100, 4)).toEqual(['resp_3']);
      expect(await chainOf('resp_3', 100, 5)).toEqual(['resp_3', 'resp_2']);
      expect(await chainOf('resp_round', 3)).toHaveLength(3);
    });

    it('removes one response, and the oldest before an instant', async () => {
      const createdAtMs = (ms: number) => ({ createdAt: new Date(ms) });
      await responses.add([1, 2, 3, 4].map((ms) => aResponse(`resp_${ms}`, createdAtMs(ms))));
      await responses.remove('resp_2');
      await responses.remove('resp_none');
      expect(await responses.removeBefore(4, 1)).toBe(1);
      expect(
        plain(await responses.find(['resp_1', 'resp_2', 'resp_3', 'resp_4'], UNREACHED_BYTES))?.map(({ id }) => id),
      ).toEqual(['resp_3', 'resp_4']);
      expect([await responses.removeBefore(4, 10), await responses.removeBefore(4, 10)]).toEqual([1, 0]);
    });
  });
}
