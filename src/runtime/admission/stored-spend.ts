import type { StoredTotals } from '../../domain/admission/stored-totals.ts';
import { type Spender, SPENDERS, spendCounter, spenderOf } from '../../domain/admission/counters.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { Usd } from '../../domain/money.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';
import { withDeadline } from '../../domain/with-deadline.ts';

/** Timeout of a read, in ms. It is also the maximum wait of a commit, because commits wait for reads. */
const ANSWER_MS = 2_000;

type Totals = Pick<SpendStore, 'totalsOf' | 'totalsOfOwners'>;

/** State of the queue of call records. */
interface Records {
  position(): number;
  storedThrough(): number;
  betweenCommits<Result>(read: () => Promise<Result>, withinMs: number): Promise<Result>;
}

/**
 * Stored spend of keys and their owners, one statement for each kind of spender. It is read between two commits. So
 * each record is either in the stored total, or after the position `through` that the read returns. When a commit takes
 * longer than a read waits, a record can be in both: its cost counts twice until the next read.
 */
export function createStoredSpend(spend: Totals, records: Records): StoredTotals {
  return {
    position: () => records.position(),
    storedThrough: () => records.storedThrough(),
    read: (counters, commitWaitMs) =>
      records.betweenCommits(async () => {
        const through = records.storedThrough();
        const totals = await withDeadline(totalsOf(spend, counters), ANSWER_MS, () => {
          throw new Unavailable(`Spend could not be read within ${ANSWER_MS} ms.`);
        });
        return { through, totals };
      }, commitWaitMs),
  };
}

async function totalsOf(spend: Totals, counters: readonly string[]): Promise<ReadonlyMap<string, Usd>> {
  const wanted = Map.groupBy(counters.map(spenderOf), ({ spender }) => spender);
  const read = async (spender: Spender): Promise<readonly (readonly [string, Usd])[]> => {
    const ids = wanted.get(spender)?.map(({ id }) => id) ?? [];
    if (ids.length === 0) return [];
    const spent = await (spender === 'key' ? spend.totalsOf(ids) : spend.totalsOfOwners(spender, ids));
    return [...spent].map(([id, usd]) => [spendCounter(spender, id), usd] as const);
  };
  return new Map((await Promise.all(SPENDERS.map(read))).flat());
}
