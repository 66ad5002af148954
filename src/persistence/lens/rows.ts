import type { JsonObject } from '../../domain/json-object.ts';
import type { Usd } from '../../domain/money.ts';
import type { Sample } from '../../domain/lens/execution.ts';
import type { Finding } from '../../domain/lens/finding.ts';
import type { Lens, LensRun, Reservation, RunHead } from '../../domain/lens/lens.ts';
import { dueAt } from '../../domain/lens/schedule.ts';
import type { LensEntity, LensFindingEntity, LensRunEntity } from './entities/lens.ts';

/*
 * The documents inside rows. They are written here only, from typed values, so that they have the form that they are read
 * as.
 */

/** JSON without NUL, which PostgreSQL's texts cannot contain; a document escapes it. */
const dataOf = (value: object): JsonObject => ({ ...value });

interface StoredReservation extends Omit<Reservation, 'amount'> {
  readonly amount: string;
}

export function lensRow(lens: Lens, run: Pick<LensRun, 'id' | 'status'>) {
  const { id, spent, reservations, ...data } = lens;
  return {
    id,
    data: dataOf(data),
    reservations: reservations.map((one): StoredReservation => ({ ...one, amount: one.amount.toString() })),
    spent,
    runId: run.id,
  };
}

/** When the schedule of a row is due, in Unix milliseconds. */
export const dueMs = (lens: Lens, run: LensRun): number | null => dueAt({ lens, run })?.getTime() ?? null;

export function lensOf({ id, data, reservations, spent }: LensEntity): Lens {
  const stored = reservations as readonly StoredReservation[];
  return {
    ...(data as unknown as Omit<Lens, 'id' | 'spent' | 'reservations'>),
    id,
    spent,
    reservations: stored.map((one) => ({ ...one, amount: BigInt(one.amount) as Usd })),
  };
}

export function runHeadRow({ id, lensId, status, createdAt, cost, ...data }: RunHead) {
  return { id, lensId, status, createdAt: new Date(createdAt).getTime(), cost, data: dataOf(data) };
}

export const runRow = ({ sample, ...head }: LensRun) => ({
  ...runHeadRow(head),
  sample: sample === null ? null : dataOf(sample),
});

export function runHeadOf({
  id,
  lensId,
  status,
  createdAt,
  cost,
  data,
}: Pick<LensRunEntity, 'id' | 'lensId' | 'status' | 'createdAt' | 'cost' | 'data'>): RunHead {
  return {
    ...(data as unknown as Omit<RunHead, 'id' | 'lensId' | 'status' | 'createdAt' | 'cost'>),
    id,
    lensId,
    status: status as LensRun['status'],
    createdAt: new Date(createdAt).toISOString(),
    cost,
  };
}

export const runOf = (row: LensRunEntity): LensRun => ({
  ...runHeadOf(row),
  sample: row.sample === null ? null : (row.sample as unknown as Sample),
});

export function findingRow(lensId: string, finding: Finding, place: number) {
  const { id, status, kind, priority, lastSeen, ...data } = finding;
  return {
    id,
    lensId,
    place,
    status,
    kind,
    priority,
    lastSeen: new Date(lastSeen).getTime(),
    data: dataOf(data),
  };
}

export function findingOf({ id, status, kind, priority, lastSeen, data }: LensFindingEntity): Finding {
  return {
    ...(data as unknown as Omit<Finding, 'id' | 'status' | 'kind' | 'priority' | 'lastSeen'>),
    id,
    status: status as Finding['status'],
    kind: kind as Finding['kind'],
    priority: priority as Finding['priority'],
    lastSeen: new Date(lastSeen).toISOString(),
  };
}
