import { getToolSpend } from '../resolvers/tools.ts';
import { usdText } from '../src/domain/money.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { ToolDay, ToolSpend, ToolSum } from '../src/domain/tools/tool-use.ts';
import { builder } from './base/builder.ts';
import { LIST_LENGTH } from './base/limits.ts';

const NAME = 'Name of the tool, as models see it.';
/** Assumed number of days in a report. */
const USUAL_DAYS = 100;

const SumType = builder.objectRef<ToolSum>('ToolSum').implement({
  description: 'Use of a tool over a period.',
  fields: (t) => ({
    name: t.exposeString('name', { description: NAME }),
    calls: t.exposeFloat('calls', { description: 'Number of requests that called it.' }),
    costUsd: t.field({
      type: 'Decimal',
      description: 'Cost of these requests in USD, exact.',
      resolve: ({ cost }) => usdText(cost),
    }),
    tokens: t.exposeFloat('tokens', { description: 'Tokens of these requests.' }),
  }),
});

const DayType = builder.objectRef<ToolDay>('ToolDay').implement({
  description: 'Use of a tool on one day.',
  fields: (t) => ({
    date: t.exposeString('day', { description: 'Day in UTC, `YYYY-MM-DD`.' }),
    name: t.exposeString('name', { description: NAME }),
    calls: t.exposeFloat('calls', { description: 'Number of requests that called it.' }),
    costUsd: t.field({
      type: 'Decimal',
      description: 'Cost of these requests in USD, exact.',
      resolve: ({ cost }) => usdText(cost),
    }),
    tokens: t.exposeFloat('tokens', { description: 'Tokens of these requests.' }),
  }),
});

const SpendType = builder.objectRef<ToolSpend>('ToolSpend').implement({
  description: 'Cost of the requests that called tools. A request with several tools counts in full for each.',
  fields: (t) => ({
    tools: t.field({
      type: [SumType],
      description: 'At most 50 tools, the most expensive first.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ tools }) => [...tools],
    }),
    days: t.field({
      type: [DayType],
      description: 'Days of these tools, in their order.',
      complexity: { field: 1, multiplier: USUAL_DAYS },
      resolve: ({ days }) => [...days],
    }),
  }),
});

builder.queryField('toolSpend', (t) =>
  t.field({
    type: SpendType,
    nullable: true,
    description: 'Cost of the requests that called each tool. For proxy administrators with full or read-only access.',
    args: {
      from: t.arg.string({ description: 'First day in UTC, `YYYY-MM-DD`. 30 days before the last day when absent.' }),
      to: t.arg.string({ description: 'Last day in UTC, `YYYY-MM-DD`. Today when absent.' }),
    },
    resolve: (_root, { from, to }, { scope }) => getToolSpend(scope, { from: nullIfBlank(from), to: nullIfBlank(to) }),
  }),
);
