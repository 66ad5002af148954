import { createMemoryAdmission, type MemoryAdmission } from '../runtime/admission/memory-admission.ts';
import { createMemoryRateLimits } from '../runtime/admission/memory-rate-limits.ts';
import { connectRedis } from '../runtime/admission/redis/redis-client.ts';
import { createRedisCounts } from '../runtime/admission/redis/redis-counts.ts';
import { createRedisLedger } from '../runtime/admission/redis/redis-ledger.ts';
import { createSharedRateLimits } from '../runtime/admission/shared-rate-limits.ts';
import { createShares, type ShareTiming, type Shares } from '../runtime/admission/shares.ts';
import { createStoredSpend } from '../runtime/admission/stored-spend.ts';
import { OpenAmounts } from '../domain/admission/open-amounts.ts';
import type { Ledger } from '../domain/admission/ledger.ts';
import type { RateLimits } from '../domain/admission/rate-limits.ts';
import type { CountsLedger } from '../domain/routing/shared-counts.ts';
import type { Stores } from '../persistence/stores.ts';
import type { CallRecords } from '../recording/call-records.ts';
import { systemClock } from '../runtime/clock.ts';
import { randomIds } from '../runtime/identifiers.ts';
import type { StartContext } from './context.ts';

/** Redis answers in less than a millisecond, so that a share needs no minimum of spare room. */
const REDIS_TIMING: ShareTiming = { tickMs: 100, minSpareCalls: 0, answerMs: 250 };

/** A statement of the database takes a millisecond and more, so that each share keeps room for some further calls. */
const DATABASE_TIMING: ShareTiming = { tickMs: 500, minSpareCalls: 8, answerMs: 1_000 };

/** Parts of admission. */
export interface AdmissionParts {
  readonly admission: MemoryAdmission;
  /** Expected costs of open objects, which admission counts. */
  readonly openAmounts: OpenAmounts;
  readonly rateLimits: RateLimits;
  /** Shares of limits that several processes count together; null when this process counts alone. */
  readonly shares: Shares | null;
  /** Pings the Redis server of the shared counters; null without one. */
  readonly pingRedis: (() => Promise<unknown>) | null;
  /** Counts of deployments that several processes share; null without a Redis server. */
  readonly countsLedger: CountsLedger | null;
}

/** Counters that several processes share. */
interface SharedLedger {
  /** Name of the shared ledger, for the log. */
  readonly name: string;
  readonly ledger: Ledger;
  readonly timing: ShareTiming;
  readonly ping: (() => Promise<unknown>) | null;
  readonly counts: CountsLedger | null;
}

/** Admission of calls: in this process, or together with others. */
export async function composeAdmission(
  context: StartContext,
  { stores, records }: { readonly stores: Stores; readonly records: CallRecords },
): Promise<AdmissionParts> {
  const { log, state } = context;
  const shared = await openLedger(context.settings.sharing, stores);
  const shares = shared === null ? null : composeShares(context, shared);
  const openAmounts = new OpenAmounts();
  const admission = createMemoryAdmission({
    open: openAmounts,
    totals: createStoredSpend(stores.spend, records),
    clock: systemClock,
    shares,
    failed(error) {
      if (!state.draining)
        log.warn({ err: error }, 'stored spend could not be read; budgets use the amounts in memory');
    },
  });
  const rateLimits =
    shares === null
      ? createMemoryRateLimits({ clock: systemClock })
      : createSharedRateLimits({ shares, clock: systemClock });
  return {
    admission,
    openAmounts,
    rateLimits,
    shares,
    pingRedis: shared?.ping ?? null,
    countsLedger: shared?.counts ?? null,
  };
}

function composeShares(
  { log, scheduler, shutdown, state }: StartContext,
  { name, ledger, timing }: SharedLedger,
): Shares {
  const shares = createShares({
    ledger,
    process: randomIds.uuid(),
    clock: systemClock,
    timing,
    scheduler,
    changed(failure) {
      if (state.draining) return;
      if (failure === null)
        log.info({ in: name }, 'budgets and limits are counted together with other processes again');
      else
        log.warn(
          { err: failure, in: name },
          'budgets and limits are counted by this process alone: the shared counters do not answer',
        );
    },
  });
  shutdown.add('shares of limits', () => shares.stop());
  return shares;
}

/** Opens Redis if it is configured, else PostgreSQL. Null when this process counts alone. */
async function openLedger(
  { isOn, redis }: StartContext['settings']['sharing'],
  { admissionLedger }: Pick<Stores, 'admissionLedger'>,
): Promise<SharedLedger | null> {
  if (!isOn) return null;
  if (redis === null)
    return admissionLedger === null
      ? null
      : { name: 'PostgreSQL', ledger: admissionLedger, timing: DATABASE_TIMING, ping: null, counts: null };
  const connection = await connectRedis(redis);
  return {
    name: 'Redis',
    ledger: createRedisLedger(connection, redis.namespace),
    timing: REDIS_TIMING,
    ping: () => connection.ping(),
    counts: createRedisCounts(connection, redis.namespace),
  };
}
