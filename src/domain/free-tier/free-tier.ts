import { LimitExceeded } from '../errors.ts';
import type { Client } from './client.ts';

/** Calls of one client on the current UTC day. */
export interface FreeTierUsage {
  /** Hash of the client's network: see `Client.network`. */
  readonly ipHash: string;
  readonly requestsToday: number;
  readonly dailyLimit: number;
  readonly remaining: number;
}

/** Counts the calls of clients without a key, per client and UTC day. */
export interface FreeTier {
  /**
   * Counts one call, unless the client's key removes the limit. Returns no promise when it needs no store query. Throws
   * FreeTierUsedUp; Unavailable when the call cannot be counted.
   */
  charge(client: Client): void | Promise<void>;
  /** Use as known to this process: calls reserved by other processes count as used. Throws Unavailable. */
  usageOf(client: Client): Promise<FreeTierUsage>;
}

/** Calls of a client on a day. */
export interface FreeTierCalls {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly ipHash: string;
  readonly calls: number;
}

/** Result of a reservation. */
export interface Reserved {
  /** Number of granted calls: the requested number, or what was left of the day's limit. */
  readonly granted: number;
  /** Calls of the day that are used or reserved by all processes, these included. */
  readonly used: number;
}

/** Shared counters of all processes. */
export interface FreeTierStore {
  /**
   * Reserves the requested number of calls, but never more than the rest of `limit`, also with concurrent requests.
   * Resolves when the reservation is durable. When its outcome is unknown, the calls count as used.
   */
  reserve(asked: FreeTierCalls, limit: number): Promise<Reserved>;
  /** Releases calls that were reserved and not used. */
  release(unused: readonly FreeTierCalls[]): Promise<void>;
  /** Calls of the day that are used or reserved. */
  usedOn(day: string, ipHash: string): Promise<number>;
  /** Deletes at most `most` counters of earlier days; resolves to the number of deleted ones. */
  removeBefore(day: string, most: number): Promise<number>;
}

const DAY_MS = 86_400_000;
/** Number of blocks that a day's limit is reserved in, approximately. */
const BLOCKS_A_DAY = 20;

/** The UTC day of an instant, as a number that grows by one at midnight. */
export const dayNumberOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** A day's number as `YYYY-MM-DD`. */
export const dayNumberText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Whole seconds until the next midnight UTC, at least one. */
export const secondsLeft = (ms: number): number => Math.ceil(((dayNumberOf(ms) + 1) * DAY_MS - ms) / 1_000);

/**
 * Number of calls to reserve: a twentieth of the limit, but at most half of the rest, and at least the number of
 * waiting calls. Near the limit, blocks become small, so that a process holds few calls that other processes need.
 */
export function blockSize(limit: number, used: number, waiting: number): number {
  const block = Math.min(Math.floor(limit / BLOCKS_A_DAY), Math.floor((limit - used) / 2));
  return Math.max(1, block, waiting);
}

/** The daily limit of a client is used up. */
export class FreeTierUsedUp extends LimitExceeded {
  readonly dailyLimit: number;
  constructor(dailyLimit: number, retryAfterSeconds: number, reasons: { keyRefused: boolean; onSale: boolean }) {
    super(usedUpText(dailyLimit, reasons), 'free_tier', retryAfterSeconds);
    this.name = 'FreeTierUsedUp';
    this.dailyLimit = dailyLimit;
  }
}

function usedUpText(
  dailyLimit: number,
  { keyRefused, onSale }: { readonly keyRefused: boolean; readonly onSale: boolean },
): string {
  const limitText =
    dailyLimit === 0
      ? 'No call is free here.'
      : `The free tier of ${dailyLimit} request${dailyLimit === 1 ? '' : 's'} a day is used up for your address. It resets at 00:00 UTC.`;
  const keyText = keyRefused ? ' The key that was sent is not accepted.' : '';
  const saleText = onSale ? '; POST /billing/checkout sells one' : '';
  return `${limitText}${keyText} Send a key as \`Authorization: Bearer <key>\` or \`x-api-key\`${saleText}.`;
}
