import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Release, ReleaseStore } from '../../src/domain/catalog/releases.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const aRelease = (over: Partial<Release> = {}): Release => ({
  entryId: 'azure_ai/jais-30b-chat',
  field: 'input_cost_per_token',
  value: 0.0032,
  releasedAt: new Date('2026-11-21T10:15:30.123Z'),
  releasedBy: 'a'.repeat(64),
  ...over,
});

/** Contract of every ReleaseStore. */
export function releaseStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`ReleaseStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let releases: ReleaseStore;
    beforeAll(async () => {
      scratch = await engine.create();
      releases = (await scratch.open()).catalogReleases;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns every value unchanged, nested ones with the order of their members', async () => {
      const storedReleases = [
        aRelease({
          entryId: 'a',
          value: [{ output_cost_per_token: 2.8e-9, input_cost_per_token: 1e-7, range: [0, 1] }],
        }),
        aRelease({ entryId: 'b', field: 'input_cost_per_token', value: 0.1 + 0.2 }),
        aRelease({ entryId: 'b', field: 'output_cost_per_token', value: '1e-6' }),
        aRelease({ entryId: `it's "c" \\ \u{1F600}`, value: 0 }),
      ];
      for (const release of storedReleases.toReversed()) await releases.put(release);
      const all = await releases.all();
      expect(all).toHaveLength(storedReleases.length);
      expect(all).toEqual(expect.arrayContaining(storedReleases));
      const nested = all.find(({ entryId }) => entryId === 'a')?.value;
      expect(JSON.stringify(nested)).toBe(JSON.stringify(storedReleases[0]?.value));
    });

    it('keeps the last stored release of a field, even with an earlier time, and those of other fields', async () => {
      const other = aRelease({ field: 'output_cost_per_token' });
      const last = aRelease({ value: 0.004, releasedBy: 'b'.repeat(64), releasedAt: new Date(5) });
      for (const release of [aRelease(), other, last]) await releases.put(release);
      expect(await releases.all()).toEqual([last, other]);
    });

    it('keeps one release when two processes release concurrently', async () => {
      const second = (await scratch.open()).catalogReleases;
      await Promise.all([releases.put(aRelease()), second.put(aRelease())]);
      expect(await second.all()).toEqual([aRelease()]);
    });

    it('removes releases, but not those that were replaced since', async () => {
      const other = aRelease({ entryId: 'other' });
      const replacement = aRelease({ value: 0.005 });
      for (const release of [replacement, other]) await releases.put(release);
      // `replacement` has replaced `aRelease()`, which is the same field with another value.
      await releases.remove([aRelease(), other]);
      expect(await releases.all()).toEqual([replacement]);
      await releases.remove([]);
      await releases.remove([replacement]);
      expect(await releases.all()).toEqual([]);
    });

    it('returns releases of an earlier process', async () => {
      await releases.put(aRelease());
      expect(await (await scratch.open()).catalogReleases.all()).toEqual([aRelease()]);
    });
  });
}
