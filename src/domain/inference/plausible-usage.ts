import type { Usage } from '../chat/chat.ts';
import type { Usd } from '../money.ts';

/** Maximum plausible tokens of one call, of each count. A larger count is an error of the upstream. */
const MAX_TOKENS = 1_000_000_000;

const largestOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  Math.max(inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens);

/** Reported usage of the upstream for a number of calls; null for implausible counts. */
export const plausibleUsage = (usage: Usage | null, calls = 1): Usage | null =>
  usage === null || largestOf(usage) > MAX_TOKENS * calls ? null : usage;

/**
 * Maximum cost of one call, batch or session: 100,000 USD. A larger amount is an error of the upstream, and 93 such
 * amounts would overflow a sum of 64 bits.
 */
const MAX_COST = (100_000n * 10n ** 12n) as Usd;

/** The cost, reduced to `MAX_COST` if it is larger. */
export const plausibleCost = (cost: Usd | null): Usd | null => (cost !== null && cost > MAX_COST ? MAX_COST : cost);
