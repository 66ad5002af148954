import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict } from '../../src/domain/errors.ts';
import type { Dataset } from '../../src/domain/lens/dataset.ts';
import { revisionId } from '../../src/domain/lens/dataset.ts';
import { type StoredSignalConfig, signalRowId, type TraceSignals } from '../../src/domain/lens/signals.ts';
import type { TracingKey } from '../../src/domain/lens/tracing-key.ts';
import type { LensWorker } from '../../src/domain/lens/worker.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-11-21T03:04:05.678Z');
const LATER = new Date('2026-11-21T04:00:00.000Z');
const STAMPS = { createdAt: NOW, createdBy: 'user', updatedAt: NOW, updatedBy: 'user' };

const aWorker = (id: string, tokenHash: string | null): LensWorker => ({
  ...STAMPS,
  id,
  name: "it's far",
  tokenHash,
  analysisKeyId: null,
  lastSeen: new Date(0),
  revoked: false,
});

const aTracingKey = (id: string, overrides: Partial<TracingKey> = {}): TracingKey => ({
  ...STAMPS,
  id,
  name: 'collector',
  tokenHash: `hash-${id}`,
  teamId: 't',
  userId: '',
  organizationId: '',
  expiresAt: null,
  ...overrides,
});

const aDataset = (id: string): Dataset => ({
  ...STAMPS,
  id,
  name: 'set \u{1F600}',
  agentName: 'a',
  teamId: '',
  latest: 0,
  caseCount: 1,
});

const CASE = {
  id: 'c'.repeat(64),
  messages: [{ role: 'user', content: "it's", name: '', toolCalls: [{ name: 'f', arguments: '{}' }] }],
  reply: 'r',
  toolCalls: [],
  expected: '',
  included: true,
  source: { traceId: 't', traceRef: 'r', spanId: 's', findingId: '', lensId: '' },
  agentVersion: '1',
};

const aConfig = (model: string): StoredSignalConfig => ({
  ...STAMPS,
  id: 'global',
  model,
  threshold: 0.35,
  signals: [{ id: 'rude', name: 'Rude', question: 'Is the user rude?' }],
});

const someSignals = (traceId: string, traceStartMs: number): TraceSignals => ({
  ...STAMPS,
  id: signalRowId({ traceId, traceRef: 'r' }),
  traceId,
  traceRef: 'r',
  configKey: 'k',
  spanCount: 3,
  status: 'classified',
  model: 'm',
  scores: [{ signalId: 'rude', score: 0.123456789 }],
  traceStartMs,
  // More than 32 bits.
  askedMs: 2 ** 45,
});

/** Contract of the stores of workers, tracing keys, datasets and signals. */
export function lensRowStoresSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(
    `Stores of workers, tracing keys, datasets and signals on ${engine.name}`,
    () => {
      let scratch: ScratchDatabase;
      let stores: Stores;
      beforeAll(async () => {
        scratch = await engine.create();
        stores = await scratch.open();
      });
      afterEach(() => scratch.clear());
      afterAll(() => scratch.remove());

      it('store workers, which are found by the hash of their token', async () => {
        const { lensWorkers } = stores;
        await lensWorkers.add(aWorker('built-in', null), aWorker('far', 'hash'));
        expect(await lensWorkers.find('built-in')).toEqual(aWorker('built-in', null));
        expect(await lensWorkers.all({ tokenHash: 'hash' })).toEqual([aWorker('far', 'hash')]);
        // A filter with null selects all rows.
        expect((await lensWorkers.all({ tokenHash: null })).map(({ id }) => id)).toEqual(['built-in', 'far']);
        await expect(lensWorkers.add(aWorker('other', 'hash'))).rejects.toThrow(Conflict);
        // A second worker without a token is no conflict.
        await lensWorkers.add(aWorker('without', null));
        const changed = { ...aWorker('far', 'hash'), revoked: true, analysisKeyId: 'k', lastSeen: LATER };
        await lensWorkers.change('far', () => changed);
        expect(await lensWorkers.find('far')).toEqual(changed);
      });

      it('store tracing keys, which are found by the hash of their token', async () => {
        const { tracingKeys } = stores;
        const [first, second] = [aTracingKey('a'), aTracingKey('b', { expiresAt: LATER, userId: 'u' })];
        await tracingKeys.add(first, second);
        expect(await tracingKeys.all({ tokenHash: 'hash-b' })).toEqual([second]);
        expect(await tracingKeys.all({ tokenHash: null })).toEqual([first, second]);
        expect(await tracingKeys.count({ tokenHash: null })).toBe(2);
        await expect(tracingKeys.add(aTracingKey('c', { tokenHash: 'hash-a' }))).rejects.toThrow(Conflict);
        expect(await tracingKeys.remove(['a', 'none'])).toEqual([first]);
        expect(await tracingKeys.find('a')).toBeNull();
      });

      it('store datasets and each of their revisions', async () => {
        const { datasets, datasetRevisions } = stores;
        await datasets.add(aDataset('d'));
        const revision = (number: number) => ({
          ...STAMPS,
          id: revisionId('d', number),
          datasetId: 'd',
          number,
          cases: [CASE],
        });
        await datasetRevisions.add(revision(0));
        await datasetRevisions.add(revision(1));
        expect(await datasetRevisions.find(revisionId('d', 1))).toEqual(revision(1));
        await expect(datasetRevisions.add(revision(1))).rejects.toThrow(new Conflict('Dataset changed, reload'));
        await datasets.change('d', (dataset) => ({ ...dataset, latest: 1, updatedAt: LATER }));
        expect(await datasets.find('d')).toEqual({ ...aDataset('d'), latest: 1, updatedAt: LATER });
      });

      it('store one configuration of signals, and the signals of each trace', async () => {
        const { signalConfigs, traceSignals } = stores;
        await signalConfigs.add(aConfig('m'));
        await signalConfigs.change('global', () => aConfig('other'));
        expect(await signalConfigs.all(null)).toEqual([aConfig('other')]);
        await expect(signalConfigs.add(aConfig('m'))).rejects.toThrow(Conflict);
        const [old, young] = [someSignals('t1', 5), someSignals('t2', 2 ** 44)];
        await traceSignals.add(old, young);
        expect(await traceSignals.all({ ids: [young.id, 'none'], traceBeforeMs: null })).toEqual([young]);
        expect(await traceSignals.all({ ids: null, traceBeforeMs: 6 })).toEqual([old]);
        expect(await traceSignals.all({ ids: null, traceBeforeMs: 5 })).toEqual([]);
        expect(await traceSignals.all({ ids: [], traceBeforeMs: null })).toEqual([]);
        const failed = { ...old, status: 'failed', scores: [] } as const;
        await traceSignals.change(old.id, () => failed);
        expect(await traceSignals.find(old.id)).toEqual(failed);
      });
    },
  );
}
