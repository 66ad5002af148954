import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ALL_ANNOTATIONS,
  type Annotation,
  type AnnotationFilter,
  type AnnotationStore,
} from '../../src/domain/annotations/annotation.ts';
import { Conflict } from '../../src/domain/errors.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { START_MS } from './samples.ts';

const annotation = (id: string, more: Partial<Annotation> = {}): Annotation => ({
  id,
  traceId: 'a'.repeat(32),
  traceRef: 'ref',
  spanId: '',
  teamId: 'team',
  keyHash: 'key',
  traceStartMs: START_MS,
  name: id,
  annotator: 'human',
  label: null,
  score: null,
  note: null,
  createdAt: new Date(START_MS),
  createdBy: 'ann',
  updatedAt: new Date(START_MS),
  updatedBy: 'ann',
  ...more,
});

/** Contract of every annotation store. */
export function annotationStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`annotation store on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: AnnotationStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).annotations;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const ids = async (filter: Partial<AnnotationFilter>): Promise<readonly string[]> =>
      (await store.all({ ...ALL_ANNOTATIONS, ...filter })).map(({ id }) => id);

    it('returns annotations unchanged', async () => {
      const whole = annotation('one', {
        label: 'l',
        score: -0.25,
        note: 'n',
        spanId: '1'.repeat(16),
        annotator: 'llm',
      });
      await store.add(whole);
      expect(await store.find('one')).toEqual(whole);
    });

    it('stores one annotation of each name and author for a trace or span', async () => {
      await store.add(annotation('one', { name: 'n' }));
      await expect(store.add(annotation('two', { name: 'n' }))).rejects.toThrow(Conflict);
      await store.add(
        annotation('three', { name: 'n', createdBy: 'ben' }),
        annotation('four', { name: 'n', spanId: '1'.repeat(16) }),
        annotation('five', { name: 'n', traceRef: 'other' }),
      );
      expect(await store.count(ALL_ANNOTATIONS)).toBe(4);
    });

    it('finds annotations that match every member of the filter', async () => {
      await store.add(
        annotation('team'),
        annotation('mine', { teamId: '', keyHash: 'mine', score: 2, traceStartMs: START_MS - 1 }),
        annotation('other', { teamId: '', label: 'l', annotator: 'code', traceId: 'b'.repeat(32) }),
        annotation('late', { createdAt: new Date(START_MS + 1), createdBy: 'ben', spanId: '1'.repeat(16), score: 1 }),
      );
      const trace = { traceId: 'b'.repeat(32), traceRef: 'ref' };
      expect(await ids({ visibility: { kind: 'team', teamId: 'team' } })).toEqual(['team', 'late']);
      expect(await ids({ visibility: { kind: 'key', keyHash: 'mine' } })).toEqual(['mine']);
      expect(await ids({ visibility: { kind: 'key', keyHash: 'key' } })).toEqual(['other']);
      expect(await ids({ traces: [trace] })).toEqual(['other']);
      expect(await ids({ traces: [] })).toEqual([]);
      expect(await ids({ traceId: trace.traceId, label: 'l', annotator: 'code' })).toEqual(['other']);
      expect(await ids({ author: 'ben', spanId: '1'.repeat(16), name: 'late' })).toEqual(['late']);
      expect(await ids({ minScore: 1.5 })).toEqual(['mine']);
      expect(await ids({ maxScore: 1 })).toEqual(['late']);
      expect(await ids({ from: new Date(START_MS + 1) })).toEqual(['late']);
      expect(await ids({ to: new Date(START_MS) })).toEqual([]);
      expect(await ids({ traceBeforeMs: START_MS })).toEqual(['mine']);
    });
  });
}
