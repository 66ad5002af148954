import type { StoredTotals } from '../../domain/admission/stored-totals.ts';
import { KEY_COUNTER } from '../../domain/admission/counters.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';

/** How long the store may take to answer. Commits wait for a read, so this bounds them too. */
const ANSWER_MS = 2_000;

/** What is known of the records of calls on their way to the store. */
interface Records {
  position(): number;
  storedThrough(): number;
  betweenCommits<Result>(read: () => Promise<Result>, withinMs: number): Promise<Result>;
}

/**
 * Stored totals of what keys have spent. They are read between two commits: then a record is either in the stored total or
 * behind `through`, never both and never neither. Only when a commit takes longer than a read waits can a record be both: its
 * cost counts twice until the next read.
 */
export function createStoredSpend(spend: Pick<SpendStore, 'totalsOf'>, records: Records): StoredTotals {
  return {
    position: () => records.position(),
    storedThrough: () => records.storedThrough(),
    read: (counters, commitWaitMs) =>
      records.betweenCommits(async () => {
        const through = records.storedThrough();
        const hashes = counters.map((name) => name.slice(KEY_COUNTER.length));
        const spent = await inTime(spend.totalsOf(hashes));
        return { through, totals: new Map([...spent].map(([hash, usd]) => [`${KEY_COUNTER}${hash}`, usd])) };
      }, commitWaitMs),
  };
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const fail = (): void => late.reject(new Unavailable(`Spend could not be read within ${ANSWER_MS} ms.`));
  const alarm = setTimeout(fail, ANSWER_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(alarm);
  }
}
