import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { createCatalogSource, type RefreshingCatalog } from '../../src/runtime/catalog/source.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { mapOf, startPriceMapUpstream, recordingLog, sendMap, type Upstream } from '../support/price-map-upstream.ts';
import { aScheduler } from '../support/scheduler.ts';

let folder: string;
let file: string;
let upstream: Upstream;
let lines: string[];
const sources: RefreshingCatalog[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-catalog-'));
  file = join(folder, 'price-map');
  upstream = await startPriceMapUpstream(sendMap({}));
});
afterEach(() => {
  for (const source of sources) source.stop();
  upstream.close();
  rmSync(folder, { recursive: true });
});

/** Creates a catalog source and restores the last good map from its file, as a start does. */
async function restoredSource({ url = upstream.url, clock = systemClock, refreshSeconds = 60 } = {}) {
  const recording = recordingLog();
  lines = recording.lines;
  const source = createCatalogSource({
    url,
    refreshSeconds,
    scheduler: aScheduler(),
    clock,
    log: recording.log,
    lastGoodFile: file,
  });
  sources.push(source);
  await source.restore();
  return source;
}

/** Creates a catalog source that has read this map with this ETag. */
async function sourceWithMap(map: unknown, etag = '"one"', options: Parameters<typeof restoredSource>[0] = {}) {
  upstream.setAnswer(sendMap(map, { etag }));
  const source = await restoredSource(options);
  await source.refresh();
  expect(source.status().lastError).toBe(null);
  return source;
}
const cutNetwork = (): void => upstream.setAnswer((response) => void response.destroy());
const NOT_USED_WARNING = 'warn the stored price map is not used';

describe('the last good map', () => {
  it('is served after a restart without a network, with the same id and time', async () => {
    const before = (await sourceWithMap(mapOf(3_000))).current();
    cutNetwork();
    const source = await restoredSource();
    const restored = source.current();
    await source.refresh();
    expect(source.current()).toBe(restored);
    const { id, takenAt, entries } = before;
    expect([restored.id, restored.takenAt, restored.source, restored.entries]).toEqual([
      id,
      takenAt,
      before.source,
      entries,
    ]);
    expect(source.status()).toMatchObject({ count: 3_000, source: 'upstream', takenAt });
    expect([readdirSync(folder), statSync(file).mode & 0o777]).toEqual([['price-map'], 0o600]);
  });

  it('is requested with its ETag', async () => {
    await sourceWithMap(mapOf(3_000));
    const source = await restoredSource();
    await source.refresh();
    expect(upstream.requests.map((headers) => headers['if-none-match'])).toEqual([undefined, '"one"']);
    expect([source.status().lastError, source.status().checks.unchanged]).toEqual([null, 1]);
  });

  it('is replaced by every accepted map', async () => {
    await sourceWithMap(mapOf(3_000));
    await sourceWithMap(mapOf(2_900, 2), '"two"');
    cutNetwork();
    const source = await restoredSource();
    expect([source.current().entries.length, source.current().find('m0')?.row['version']]).toEqual([2_900, 2]);
  });

  it('stays when a new map is refused', async () => {
    const source = await sourceWithMap(mapOf(3_000));
    const before = readFileSync(file);
    upstream.setAnswer(sendMap(mapOf(10), { etag: '"bad"' }));
    await source.refresh();
    expect([source.status().checks.refused, readFileSync(file).equals(before)]).toEqual([1, true]);
  });

  it('keeps quarantined values, their time, and the values served instead', async () => {
    // The field `x` has no price: it stays in the served row.
    const priced = (price: number) => ({ ...mapOf(3_000), m0: { mode: 'chat', input_cost_per_token: price, x: 1 } });
    await sourceWithMap(priced(1e-6));
    const source = await sourceWithMap(priced(0.5), '"two"');
    const [quarantined, entry] = [source.quarantined(), source.current().find('m0')];
    expect([quarantined.length, entry?.row]).toEqual([1, { mode: 'chat', input_cost_per_token: 1e-6, x: 1 }]);
    cutNetwork();
    const later = await restoredSource();
    expect([later.quarantined(), later.current().find('m0')]).toEqual([quarantined, entry]);
  });

  it('is checked by the quarantine rules again after a lost release', async () => {
    // The sources of this file have no store of releases, so a restart loses the release.
    const absurd = { ...mapOf(3_000), m0: { input_cost_per_token: 0.5 } };
    const source = await sourceWithMap(absurd);
    await source.release(source.quarantined()[0]?.id ?? '', 'admin-hash');
    expect(source.current().find('m0')?.row['input_cost_per_token']).toBe(0.5);
    const later = await restoredSource();
    expect(later.quarantined().map(({ entryId, served }) => [entryId, served])).toEqual([['m0', undefined]]);
  });
});

describe('a stored map', () => {
  /**
   * Restarts without a network. Returns the source of the catalog, whether it has at least 4,000 entries, and the log.
   * Only the built-in map has as many.
   */
  const restarted = async (options = {}): Promise<readonly unknown[]> => {
    cutNetwork();
    const { source, entries } = (await restoredSource(options)).current();
    return [source, entries.length >= 4_000, lines];
  };

  it.each<[string, (whole: Buffer) => Buffer]>([
    ['cut short', (whole) => whole.subarray(0, whole.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    [
      'changed in one bit of its compressed models',
      (whole) => Buffer.from(whole.map((byte, index) => (index === whole.length - 40 ? byte ^ 1 : byte))),
    ],
    ['in another format', () => Buffer.from('{"gpt-4o":{}}\n'.repeat(100))],
  ])('is not used when it is %s, with a warning', async (_what, damage) => {
    await sourceWithMap(mapOf(3_000));
    writeFileSync(file, damage(readFileSync(file)));
    expect(await restarted()).toEqual(['embedded', true, [NOT_USED_WARNING]]);
  });

  it('is not used when it was read from another address', async () => {
    await sourceWithMap(mapOf(3_000));
    expect(await restarted({ url: `${upstream.url}?other` })).toEqual(['embedded', true, []]);
  });

  it('is not used when the built-in map is newer', async () => {
    // The built-in map is of a later day.
    const clock: Clock = { ...systemClock, now: () => new Date('2026-01-01T00:00:00Z') };
    await sourceWithMap(mapOf(3_000), '"one"', { clock });
    expect(await restarted()).toEqual(['embedded', true, []]);
  });

  it('is not used when refreshes are disabled', async () => {
    await sourceWithMap(mapOf(3_000));
    expect(await restarted({ refreshSeconds: 0 })).toEqual(['embedded', true, []]);
  });

  it('is whole when a process died while writing its successor', async () => {
    await sourceWithMap(mapOf(3_000));
    writeFileSync(`${file}.part`, readFileSync(file).subarray(0, 1_000));
    cutNetwork();
    expect((await restoredSource()).current().entries.length).toBe(3_000);
    await sourceWithMap(mapOf(3_000, 2), '"two"');
    expect(existsSync(`${file}.part`)).toBe(false);
  });
});

it('a folder that cannot be written causes a warning; the catalog is served', async () => {
  file = join(folder, 'missing', 'price-map');
  const source = await sourceWithMap(mapOf(3_000));
  expect([source.current().entries.length, lines.at(-1)]).toEqual([
    3_000,
    'warn the price map could not be stored for the next start',
  ]);
});
