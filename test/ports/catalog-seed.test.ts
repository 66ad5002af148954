import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CatalogHistory, ChangeFilters } from '../../src/domain/catalog/history.ts';
import { Unavailable } from '../../src/domain/errors.ts';
import { seedHistory } from '../../src/runtime/catalog/seed.ts';
import { sharedData } from '../support/catalog-maps.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-11-21T00:00:00Z');
const ALL: ChangeFilters = { entryId: null, provider: null, field: null, kind: null, op: null, from: null, to: null };
const REAL_HISTORY = sharedData('model_prices_history.jsonl');

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`seeding the history on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let history: CatalogHistory;
    let folder: string;
    beforeEach(async () => {
      scratch = await engine.create();
      history = (await scratch.open()).catalogHistory;
      folder = mkdtempSync(join(tmpdir(), 'lensgate-seed-'));
    });
    afterEach(async () => {
      await scratch.remove();
      rmSync(folder, { recursive: true });
    });

    function aFile(text: string): string {
      const file = join(folder, 'history.jsonl');
      writeFileSync(file, text);
      return file;
    }
    const seed = (file: string, into: Pick<CatalogHistory, 'importChanges' | 'importSpan'> = history) =>
      seedHistory({ file, history: into, providerOf: (id) => (id === 'known' ? 'p' : null), now: NOW });
    const contents = async () => [(await history.list(ALL, null, 20_000)).length, await history.spans()];
    const aLine = (day: number, id = 'm') => `{"at":"2026-01-0${day}T00:00:00Z","id":"${id}","op":"added"}\n`;

    it.skipIf(REAL_HISTORY === null)('imports 18 months of real changes, once', async () => {
      const [from, to] = [new Date('2025-02-06T04:37:22Z'), new Date('2026-07-24T18:23:43Z')];
      expect(await seed(REAL_HISTORY ?? '')).toEqual({ read: 8_481, added: 8_481, from, to });
      expect(await seed(REAL_HISTORY ?? '')).toEqual({ read: 8_481, added: 0, from, to });
      expect(await contents()).toEqual([8_481, [{ source: 'imported', from, to }]]);
    });

    it('keeps the order of lines with equal times, and adds the provider of an entry', async () => {
      const lines = ['one', 'known', 'three'].map((id) => aLine(1, id));
      await seed(aFile(lines.join('')));
      const changes = await history.list(ALL, null, 10);
      expect(changes.map(({ change: { entryId, provider } }) => [entryId, provider])).toEqual([
        ['three', null],
        ['known', 'p'],
        ['one', null],
      ]);
    });

    it('refuses a file with bad lines, names the lines, and imports nothing of the file', async () => {
      const file = aFile(`${aLine(3)}\n${aLine(2)}{"at":\n${aLine(4)}nonsense`);
      await expect(seed(file)).rejects.toThrow(
        'line 3: `at` is earlier than in line 1\nline 4: the line is not valid JSON\nline 6: the line is not valid JSON',
      );
      expect(await contents()).toEqual([0, []]);
    });

    it('reports at most the first twenty faults', async () => {
      const fault = await seed(aFile('no\n'.repeat(1_000))).catch(String);
      expect(fault).toMatch(/line 20: the line is not valid JSON\nfurther lines were not checked$/);
    });

    it('resumes after an interruption, and marks the import complete at its end only', async () => {
      const file = aFile(
        Array.from({ length: 1_200 }, (_, index) => aLine(1 + Math.floor(index / 200), `m${index}`)).join(''),
      );
      let batches = 0;
      const broken = {
        importSpan: history.importSpan,
        importChanges(...batch: Parameters<CatalogHistory['importChanges']>) {
          batches += 1;
          return batches === 2 ? Promise.reject(new Unavailable('gone')) : history.importChanges(...batch);
        },
      };
      await expect(seed(file, broken)).rejects.toThrow('gone');
      // A batch has 500 changes. Only the first was stored.
      expect(await contents()).toEqual([500, []]);
      expect(await seed(file)).toMatchObject({ read: 1_200, added: 700 });
      expect(await contents()).toMatchObject([1_200, [{ source: 'imported' }]]);
    });

    it('accepts an empty file', async () => {
      expect(await seed(aFile('\n'))).toEqual({ read: 0, added: 0, from: null, to: null });
      expect(await contents()).toEqual([0, []]);
    });
  });
