import type { WindowBudget } from '../../resolvers/operation/window-budgets.ts';
import type { WantedWindow } from '../../src/domain/keys/key-settings.ts';
import { usdText } from '../../src/domain/money.ts';
import type { SpendSums } from '../../src/domain/spend/spend-reports.ts';
import type { FieldsOf, InputFields } from './builder.ts';
import { plainUsd, usdOrNull } from './decimal.ts';

/** The field `droppedUpdates` of the events of a subscription. An event has this number as `missed`. */
export const droppedUpdates = (t: FieldsOf<{ readonly missed: number }>) => ({
  droppedUpdates: t.exposeInt('missed', {
    description: 'Number of updates that were dropped before this one because the client read too slowly.',
  }),
});

/** Fields of a budget that the configuration declares, in its current window. */
export const windowBudgetFields = (t: FieldsOf<WindowBudget>) => ({
  limitUsd: t.field({
    type: 'Decimal',
    nullable: true,
    description: 'Budget of a window, in USD. Null for no limit.',
    resolve: ({ limit }) => usdOrNull(limit),
  }),
  duration: t.exposeString('duration', {
    nullable: true,
    description: 'Interval at which the spend is reset, e.g. `1d`. Null for never.',
  }),
  spentUsd: t.field({
    type: 'Decimal',
    description: 'Cost of the calls of the current window, in USD, exact.',
    resolve: ({ spent }) => usdText(spent),
  }),
  resetAt: t.expose('resetAt', {
    type: 'DateTime',
    nullable: true,
    description: 'End of the current window. Null for a budget that is never reset.',
  }),
});

/** Length and limit of a further budget window of a key or a team. */
export const windowLimitFields = (t: FieldsOf<WantedWindow>) => ({
  duration: t.exposeString('budgetDuration', { description: 'Length of the window, e.g. `1d`.' }),
  maxBudgetUsd: t.field({
    type: 'Decimal',
    description: 'Maximum spend of one window, in USD.',
    resolve: ({ maxBudget }) => plainUsd(maxBudget),
  }),
});

/** Input fields of a call of a model: its id and its parent span. */
export const callFields = (t: InputFields) => ({
  callId: t.id({
    description:
      'Id that the client gives this call, 1 to 200 visible ASCII characters. Generated when absent or of another form.',
  }),
  traceparent: t.string({ description: 'W3C trace context of the parent span. A new trace when absent or invalid.' }),
});

/** Sums of tokens and cost over calls. */
export const sumFields = (t: FieldsOf<SpendSums>) => ({
  inputTokens: t.expose('inputTokens', { type: 'BigInt', description: 'All input tokens, cached ones included.' }),
  outputTokens: t.expose('outputTokens', { type: 'BigInt', description: 'All output tokens, reasoning included.' }),
  cacheReadTokens: t.expose('cacheReadTokens', { type: 'BigInt', description: 'Input tokens read from a cache.' }),
  cacheWriteTokens: t.expose('cacheWriteTokens', { type: 'BigInt', description: 'Input tokens written to a cache.' }),
  costUsd: t.field({
    type: 'Decimal',
    description: 'Cost in USD, exact. Calls without a known price count as zero.',
    resolve: ({ cost }) => usdText(cost),
  }),
});
