import type { ActivityNames } from '../../../resolvers/operation/activity-view.ts';
import { usdNumber } from '../../../src/domain/money.ts';
import type { SpendSums } from '../../../src/domain/spend/spend-reports.ts';

/** Spend in USD, tokens and call counts, as the daily activity reports show them. */
export const activityMetrics = (sums: SpendSums) => ({
  spend: usdNumber(sums.cost),
  prompt_tokens: sums.inputTokens,
  completion_tokens: sums.outputTokens,
  total_tokens: sums.inputTokens + sums.outputTokens,
  api_requests: sums.calls,
  successful_requests: sums.calls - sums.failures,
  failed_requests: sums.failures,
  cache_read_input_tokens: sums.cacheReadTokens,
  cache_creation_input_tokens: sums.cacheWriteTokens,
});

/** Alias, team and user of a key. `key_exists` is false for a deleted or unknown key. */
export function keyMetadata(hash: string, { keys, emails }: ActivityNames) {
  const key = keys.get(hash);
  return {
    key_alias: key?.alias ?? null,
    team_id: key?.teamId ?? null,
    user_id: key?.userId ?? null,
    user_email: emails.get(key?.userId ?? '') ?? null,
    key_exists: key !== undefined && key.deletedAt === null,
  };
}
