import type { Usd } from '../../domain/money.ts';
import type { Finding } from '../../domain/lens/finding.ts';
import type { Lens, LensRun, RunHead } from '../../domain/lens/lens.ts';
import { nextRunDueAt } from '../../domain/lens/schedule.ts';
import type { LensEntity, LensFindingEntity, LensRunEntity } from './entities.ts';

// A member that has its own column is not repeated in `data`.

export function lensRow(lens: Lens, run: Pick<LensRun, 'id'>) {
  const { id, spent, reservations, ...data } = lens;
  const stored = reservations.map((one) => ({ ...one, amount: one.amount.toString() }));
  return { id, data, reservations: stored, spent, runId: run.id };
}

/** When the schedule queues the next run, Unix ms; null for a paused lens, and while a run is active. */
export const dueMs = (lens: Lens, run: LensRun): number | null => nextRunDueAt({ lens, run })?.getTime() ?? null;

export const lensOf = ({ id, data, reservations, spent }: LensEntity): Lens => ({
  ...data,
  id,
  spent,
  reservations: reservations.map((one) => ({ ...one, amount: BigInt(one.amount) as Usd })),
});

export const runHeadRow = ({ id, lensId, status, createdAt, cost, ...data }: RunHead) => {
  return { id, lensId, status, createdAt, cost, data };
};

export const runRow = ({ sample, ...head }: LensRun) => ({ ...runHeadRow(head), sample });

export const runHeadOf = ({
  id,
  lensId,
  status,
  createdAt,
  cost,
  data,
}: Pick<LensRunEntity, 'id' | 'lensId' | 'status' | 'createdAt' | 'cost' | 'data'>): RunHead => {
  return { ...data, id, lensId, status, createdAt, cost };
};

export const runOf = (row: LensRunEntity): LensRun => ({ ...runHeadOf(row), sample: row.sample ?? null });

export const findingRow = (lensId: string, finding: Finding, place: number) => {
  const { id, status, kind, priority, lastSeen, ...data } = finding;
  return { id, lensId, place, status, kind, priority, lastSeen, data };
};

export const findingOf = ({ id, status, kind, priority, lastSeen, data }: LensFindingEntity): Finding => {
  return { ...data, id, status, kind, priority, lastSeen };
};
