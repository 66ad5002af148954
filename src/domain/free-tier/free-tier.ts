import { LimitExceeded } from '../errors.ts';
import type { Client } from './client.ts';

/** What one client has used of today, and what is left. */
export interface FreeTierUsage {
  /** Names the client without telling its address. */
  readonly ipHash: string;
  readonly requestsToday: number;
  readonly dailyLimit: number;
  readonly remaining: number;
}

/** Counts the calls of clients without a key, per client and UTC day. */
export interface FreeTier {
  /**
   * Counts one call, unless the client's key lifts the limit. At once when memory can tell, else after one
   * write. Throws FreeTierUsedUp; Unavailable when the call cannot be counted.
   */
  charge(client: Client): void | Promise<void>;
  /** As exact as one process can say: what other processes hold in reserve counts as used. */
  usageOf(client: Client): Promise<FreeTierUsage>;
}

/** Calls of a client on a day. */
export interface FreeTierCalls {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly ipHash: string;
  readonly calls: number;
}

/** What a reservation came to. */
export interface Reserved {
  /** How many calls it got: what was asked for, or what was left. */
  readonly granted: number;
  /** Calls of the day that are used or reserved by anybody, these included. */
  readonly used: number;
}

/** Where calls are counted for all processes. */
export interface FreeTierStore {
  /**
   * Sets calls aside: as many as asked for, but never more than brings the day to `limit`, however many ask at
   * once. Resolves once that is durable; who cannot tell whether it happened treats them as used.
   */
  reserve(asked: FreeTierCalls, limit: number): Promise<Reserved>;
  /** Returns calls that were reserved and not used. */
  giveBack(unused: readonly FreeTierCalls[]): Promise<void>;
  /** Calls of the day that are used or reserved. */
  usedOn(day: string, ipHash: string): Promise<number>;
  /** Deletes at most `most` counts of days before this one; tells how many. */
  forgetBefore(day: string, most: number): Promise<number>;
}

const DAY_MS = 86_400_000;
/** A day's allowance is reserved in about this many blocks. */
const BLOCKS_A_DAY = 20;

/** The UTC day of an instant, as a number that grows by one at midnight. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** A day's number as `YYYY-MM-DD`. */
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Whole seconds until the next midnight UTC, at least one. */
export const secondsLeft = (ms: number): number => Math.ceil(((dayOf(ms) + 1) * DAY_MS - ms) / 1_000);

/**
 * How many calls to reserve: a twentieth of the day's, but at most half of what is left, so that near the end
 * no process sits on what another could give; and no less than callers are waiting for.
 */
export function blockSize(limit: number, used: number, waiting: number): number {
  const block = Math.min(Math.floor(limit / BLOCKS_A_DAY), Math.floor((limit - used) / 2));
  return Math.max(1, block, waiting);
}

/** A client has used up its day. */
export class FreeTierUsedUp extends LimitExceeded {
  readonly dailyLimit: number;
  constructor(dailyLimit: number, retryAfterSeconds: number, told: { keyRefused: boolean; onSale: boolean }) {
    super(usedUpText(dailyLimit, told), 'free_tier', retryAfterSeconds);
    this.name = 'FreeTierUsedUp';
    this.dailyLimit = dailyLimit;
  }
}

function usedUpText(
  dailyLimit: number,
  { keyRefused, onSale }: { readonly keyRefused: boolean; readonly onSale: boolean },
): string {
  const spent =
    dailyLimit === 0
      ? 'No call is free here.'
      : `The free tier of ${dailyLimit} request${dailyLimit === 1 ? '' : 's'} a day is used up for your address. It starts anew at 00:00 UTC.`;
  const refused = keyRefused ? ' The key that was sent is not accepted.' : '';
  const where = onSale ? '; POST /billing/checkout sells one' : '';
  return `${spent}${refused} Send a key as \`Authorization: Bearer <key>\` or \`x-api-key\`${where}.`;
}
