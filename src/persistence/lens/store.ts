import { LockMode } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { addUsd } from '../../domain/money.ts';
import type { Lens, LensRun, LensState } from '../../domain/lens/lens.ts';
import type { Review } from '../../domain/lens/review.ts';
import type { FindingPage, LensFinding, LensStore, LensWorkerStore } from '../../domain/lens/store.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { preparedQuery } from '../database/prepared-query.ts';
import { afterPlace, createRowStore, matching } from '../database/row-store.ts';
import {
  LensEntity,
  LensFindingEntity,
  LensRunEntity,
  LensAnswerEntity,
  LensReviewEntity,
  LensWorkerEntity,
} from './entities.ts';
import { dueMs, findingOf, findingRow, lensOf, lensRow, runHeadOf, runHeadRow, runOf, runRow } from './rows.ts';

const reviewId = (lensId: string, criteriaKey: string, executionId: string): string =>
  JSON.stringify([lensId, criteriaKey, executionId]);

/** Maximum number of rows with large documents that one statement reads. */
const STATEMENT_ROWS = 500;

/** Lenses, their runs and findings as managed entities. A lens is locked while it changes. */
export function createLensStore({ find, readRows, change: changeEntities }: Database): LensStore {
  const dueBy = preparedQuery<{ nowMs: number; most: number }, { readonly id: string }>((db, given) =>
    db.selectFrom('lens').select('id').where('due_at', '<=', given('nowMs')).orderBy('due_at').limit(given('most')),
  );

  /**
   * Reads and locks a lens, so that changes of one lens are serialized. SQLite has a single writer and needs no lock.
   */
  const findLocked = (em: SqlEntityManager, id: string): Promise<LensEntity | null> =>
    em.findOne(LensEntity, { id: storable(id) }, { lockMode: LockMode.PESSIMISTIC_WRITE });

  async function stateOf(em: SqlEntityManager, stored: LensEntity): Promise<LensState> {
    const run = await em.findOneOrFail(LensRunEntity, { id: stored.runId });
    const findings = await em.find(LensFindingEntity, { lensId: stored.id }, { orderBy: { place: 'asc' } });
    return { lens: lensOf(stored), run: runOf(run), findings: findings.map(findingOf) };
  }

  function addRun(em: SqlEntityManager, run: LensRun): void {
    em.create(LensRunEntity, runRow(run));
  }

  /** Writes the differences between two states of a lens. Objects are compared by identity. */
  async function write(
    em: SqlEntityManager,
    stored: LensEntity,
    before: LensState,
    { lens, run, findings }: LensState,
  ): Promise<void> {
    if (lens !== before.lens || run !== before.run)
      Object.assign(stored, lensRow(lens, run), { dueAt: dueMs(lens, run) });
    if (run.id !== before.run.id) addRun(em, run);
    else if (run !== before.run) Object.assign(await em.findOneOrFail(LensRunEntity, { id: run.id }), runRow(run));
    if (findings === before.findings) return;
    const rows = await em.find(LensFindingEntity, { lensId: lens.id });
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const [place, finding] of findings.entries()) {
      const row = byId.get(finding.id);
      const values = findingRow(lens.id, finding, place);
      if (row === undefined) em.create(LensFindingEntity, values);
      else Object.assign(row, values);
      byId.delete(finding.id);
    }
    // The rows that are left in the map have no finding any more.
    for (const row of byId.values()) em.remove(row);
  }

  async function changeLens(em: SqlEntityManager, id: string, change: (lens: Lens) => Lens): Promise<Lens | null> {
    const stored = await findLocked(em, id);
    if (stored === null) return null;
    const before = lensOf(stored);
    const after = change(before);
    if (after !== before) {
      const { data, reservations, spent } = lensRow(after, { id: stored.runId });
      Object.assign(stored, { data, reservations, spent });
    }
    return after;
  }

  return {
    add: ({ lens, run, findings }) =>
      changeEntities((em) => {
        em.create(LensEntity, { ...lensRow(lens, run), dueAt: dueMs(lens, run) });
        addRun(em, run);
        for (const [place, finding] of findings.entries())
          em.create(LensFindingEntity, findingRow(lens.id, finding, place));
      }),
    find: (id) =>
      find(async (em) => {
        const stored = await em.findOne(LensEntity, { id: storable(id) });
        return stored && stateOf(em, stored);
      }),
    all: () =>
      find(async (em) => {
        const lenses = await em.find(LensEntity, {}, { orderBy: { id: 'asc' } });
        const runs = await em.find(LensRunEntity, { id: { $in: lenses.map(({ runId }) => runId) } });
        const findings = await em.find(LensFindingEntity, {}, { orderBy: { place: 'asc' } });
        const runById = new Map(runs.map((run) => [run.id, run]));
        const findingsByLens = Map.groupBy(findings, ({ lensId }) => lensId);
        return lenses.flatMap((stored): readonly LensState[] => {
          const run = runById.get(stored.runId);
          if (run === undefined) return [];
          const findingsOfLens = (findingsByLens.get(stored.id) ?? []).map(findingOf);
          return [{ lens: lensOf(stored), run: runOf(run), findings: findingsOfLens }];
        });
      }),
    change: (id, change) =>
      changeEntities(async (em) => {
        const stored = await findLocked(em, id);
        if (stored === null) return null;
        const before = await stateOf(em, stored);
        const after = change(before);
        await write(em, stored, before, after);
        return after;
      }),
    changeLens: (id, change) => changeEntities((em) => changeLens(em, id, change)),
    changeRun: (lensId, runId, change) =>
      changeEntities(async (em) => {
        if ((await findLocked(em, lensId)) === null) return null;
        const named = { id: storable(runId), lensId: storable(lensId) };
        const stored = await em.findOne(LensRunEntity, named, { exclude: ['sample'] });
        if (stored === null) return null;
        const after = change(runHeadOf(stored));
        Object.assign(stored, runHeadRow(after));
        return after;
      }),
    recordCall: (id, change, { runId, cost, answer }) =>
      changeEntities(async (em) => {
        await changeLens(em, id, change);
        const run = await em.findOne(LensRunEntity, { id: runId }, { fields: ['cost'] });
        if (run !== null) run.cost = addUsd(run.cost, cost);
        if (answer === null) return;
        const { id: answerId, runId: answerRunId, ...data } = answer;
        if ((await em.count(LensAnswerEntity, { id: answerId })) === 0)
          em.create(LensAnswerEntity, { id: answerId, runId: answerRunId, data, at: Date.now() });
      }),
    findAnswer: (id) =>
      find(async (em) => {
        const found = await em.findOne(LensAnswerEntity, { id });
        return found && { ...found.data, id: found.id, runId: found.runId };
      }),
    due: async (now, most) => (await readRows((db) => dueBy(db, { nowMs: now.getTime(), most }))).map(({ id }) => id),
    runs: (lensId, from, limit) =>
      find(async (em) => {
        const offset = typeof from === 'number' ? from : 0;
        const conditions = [
          { lensId: storable(lensId) },
          ...(typeof from === 'number' ? [] : [afterPlace('createdAt', [from.createdAt, storable(from.id)], true)]),
        ];
        const options = { orderBy: { createdAt: 'desc', id: 'desc' }, offset, limit } as const;
        return (await em.find(LensRunEntity, { $and: conditions }, options)).map(runOf);
      }),
    countRuns: (lensId) => find((em) => em.count(LensRunEntity, { lensId: storable(lensId) })),
    findRun: (lensId, runId) =>
      find(async (em) => {
        const found = await em.findOne(LensRunEntity, { id: storable(runId), lensId: storable(lensId) });
        return found && runOf(found);
      }),
    runIdsAmong: (ids) =>
      find(async (em) => {
        const found = await em.find(LensRunEntity, { id: { $in: [...ids] } }, { fields: ['id'] });
        return new Set(found.map(({ id }) => id));
      }),
    findings: ({ filter, descending, limit, after }) =>
      find(async (em) => {
        const direction = descending ? 'desc' : 'asc';
        const options = { orderBy: { lastSeen: direction, id: direction }, limit } as const;
        const conditions = [
          ...conditionsOf(filter),
          ...(after === null ? [] : [afterPlace('lastSeen', [after.lastSeen, storable(after.id)], descending)]),
        ];
        const found = await em.find(LensFindingEntity, { $and: conditions }, options);
        return found.map(lensFindingOf);
      }),
    countFindings: (filter) => find((em) => em.count(LensFindingEntity, { $and: [...conditionsOf(filter)] })),
    findFinding: (id) =>
      find(async (em) => {
        const found = await em.findOne(LensFindingEntity, { id: storable(id) });
        return found && lensFindingOf(found);
      }),
    keepReviews: (cached) =>
      changeEntities(async (em) => {
        const rows = cached.map(({ lensId, criteriaKey, review }) => ({
          id: reviewId(lensId, criteriaKey, review.executionId),
          lensId,
          criteriaKey,
          executionId: review.executionId,
          contentVersion: storable(review.contentVersion),
          at: Date.now(),
          data: review,
        }));
        if (rows.length > 0) await em.upsertMany(LensReviewEntity, rows);
      }),
    reviews: (lensId, criteriaKey, executionIds) =>
      find(async (em) => {
        const found: Review[] = [];
        for (let from = 0; from < executionIds.length; from += STATEMENT_ROWS) {
          const ids = executionIds.slice(from, from + STATEMENT_ROWS).map((id) => reviewId(lensId, criteriaKey, id));
          const rows = await em.find(LensReviewEntity, { id: { $in: ids } });
          found.push(...rows.map(({ data }) => data));
        }
        return found;
      }),
    removeBefore: (before, most) =>
      changeEntities(async (em) => {
        const old = { at: { $lt: before.getTime() } };
        const oldest = { orderBy: { at: 'asc' }, limit: most } as const;
        const rows = [
          ...(await em.find(LensAnswerEntity, old, oldest)),
          ...(await em.find(LensReviewEntity, old, oldest)),
        ];
        for (const row of rows) em.remove(row);
        return rows.length;
      }),
  };
}

const lensFindingOf = (row: LensFindingEntity): LensFinding => ({ lensId: row.lensId, finding: findingOf(row) });

function conditionsOf(filter: FindingPage['filter']): readonly object[] {
  const wanted: readonly (readonly [string, string | null])[] = Object.entries({ ...filter });
  return wanted.flatMap(([name, value]) => (value === null ? [] : [{ [name]: storable(value) }]));
}

export const createLensWorkerStore = (database: Database): LensWorkerStore =>
  createRowStore(database, {
    entity: LensWorkerEntity,
    noun: 'worker',
    where: ({ tokenHash }) => matching({ tokenHash }),
    conflictText: ({ id }) => `A worker with the id ${id} exists already.`,
  });
