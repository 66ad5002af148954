import type { BudgetPatch } from '../../src/domain/budgets/budget.ts';
import type { Limits, LimitsPatch } from '../../src/domain/budgets/limits.ts';
import { usdFrom } from '../../src/domain/money.ts';
import { builder } from './builder.ts';
import { usdOrNull } from './decimal.ts';

export const OwnerLimitsType = builder.objectRef<Limits>('OwnerLimits').implement({
  description:
    'Budget and rate limits. A null limit is unlimited, a zero limit allows nothing; free models skip the budget.',
  fields: (t) => ({
    maxBudgetUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Spend limit of one budget window, in USD.',
      resolve: ({ maxBudget }) => usdOrNull(maxBudget),
    }),
    softBudgetUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Budget in USD that sends an alert and refuses no call.',
      resolve: ({ softBudget }) => usdOrNull(softBudget),
    }),
    budgetDuration: t.exposeString('budgetDuration', {
      nullable: true,
      description: 'Length of the budget window, e.g. `1d`. Null when the spend is never reset.',
    }),
    budgetResetAt: t.expose('budgetResetAt', {
      type: 'DateTime',
      nullable: true,
      description: 'End of the budget window. Null without a duration.',
    }),
    rpmLimit: t.exposeFloat('rpmLimit', { nullable: true, description: 'Requests per minute, a whole number.' }),
    tpmLimit: t.exposeFloat('tpmLimit', { nullable: true, description: 'Tokens per minute, a whole number.' }),
    tpdLimit: t.exposeFloat('tpdLimit', {
      nullable: true,
      description: 'Tokens of batches per day, a whole number.',
    }),
    maxParallelRequests: t.exposeFloat('maxParallelRequests', {
      nullable: true,
      description: 'Concurrent calls, a whole number.',
    }),
  }),
});

export const OwnerLimitsInput = builder.inputType('OwnerLimitsInput', {
  description:
    'Budget and rate limits. Absent fields stay as they are. Null removes a limit; a zero limit allows nothing, but free models skip the budget.',
  fields: (t) => ({
    maxBudgetUsd: t.field({ type: 'Decimal', description: 'Spend limit in USD.' }),
    softBudgetUsd: t.field({ type: 'Decimal', description: 'Budget in USD that sends an alert and refuses no call.' }),
    budgetDuration: t.string({ description: 'Length of the budget window, e.g. `1d`, `7d`, `30d` or `5h`.' }),
    rpmLimit: t.float({ description: 'Requests per minute.' }),
    tpmLimit: t.float({ description: 'Tokens per minute.' }),
    tpdLimit: t.float({ description: 'Tokens of batches per day.' }),
    maxParallelRequests: t.float({ description: 'Concurrent calls.' }),
  }),
});

/** Changes to limits. An absent field leaves its limit unchanged; null removes the limit. */
export function limitsOf(input: typeof OwnerLimitsInput.$inferInput | null | undefined): LimitsPatch {
  const { maxBudgetUsd, softBudgetUsd, budgetDuration, rpmLimit, tpmLimit, tpdLimit, maxParallelRequests } =
    input ?? {};
  return {
    ...(maxBudgetUsd === undefined ? {} : { maxBudget: maxBudgetUsd === null ? null : usdFrom(maxBudgetUsd) }),
    ...(softBudgetUsd === undefined ? {} : { softBudget: softBudgetUsd === null ? null : usdFrom(softBudgetUsd) }),
    ...(budgetDuration === undefined ? {} : { budgetDuration }),
    ...(rpmLimit === undefined ? {} : { rpmLimit }),
    ...(tpmLimit === undefined ? {} : { tpmLimit }),
    ...(tpdLimit === undefined ? {} : { tpdLimit }),
    ...(maxParallelRequests === undefined ? {} : { maxParallelRequests }),
  };
}

/** Changes to the temporary increase of a budget. An absent field leaves the value unchanged; null removes it. */
export const increaseOf = ({
  temporaryIncreaseUsd: increase,
  temporaryIncreaseExpiresAt: expiry,
}: {
  readonly temporaryIncreaseUsd?: string | null | undefined;
  readonly temporaryIncreaseExpiresAt?: Date | null | undefined;
}): Pick<BudgetPatch, 'tempBudgetIncrease' | 'tempBudgetExpiry'> => ({
  ...(increase === undefined ? {} : { tempBudgetIncrease: increase === null ? null : usdFrom(increase) }),
  ...(expiry === undefined ? {} : { tempBudgetExpiry: expiry }),
});
