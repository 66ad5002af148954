import {
  type ChangedToolPolicy,
  deleteToolOverride,
  getTool,
  getToolDetail,
  getTools,
  listToolCalls,
  listTools,
  setToolPolicy,
} from '../resolvers/tools.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';
import { ALL_TOOLS, type Tool, type ToolOverride } from '../src/domain/tools/tool.ts';
import type { ToolCallEntry } from '../src/domain/tools/tool-use.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { usdOrNull } from './base/decimal.ts';
import { localId } from './base/global-id.ts';
import { LIST_LENGTH } from './base/limits.ts';
import { rowOrder } from './base/order.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const TYPE = 'Tool';
const NAME = 'Name of the tool, as models see it.';
const VIEWERS = 'For proxy administrators with full or read-only access.';
const ENFORCED = 'Guardrails of the kind `tool_policy` enforce it. For proxy administrators.';
const MAX_CALLS = 100;

const InputPolicyType = builder.enumType('ToolInputPolicy', {
  description: 'What a tool may read.',
  values: {
    UNTRUSTED: { value: 'untrusted', description: 'Every conversation.' },
    TRUSTED: { value: 'trusted', description: 'Conversations without output of untrusted tools.' },
    BLOCKED: { value: 'blocked', description: 'Nothing: calls with the tool are refused.' },
  } as const,
});
const OutputPolicyType = builder.enumType('ToolOutputPolicy', {
  description: 'Whether the output of a tool is safe for all tools.',
  values: {
    UNTRUSTED: { value: 'untrusted', description: 'Tools with the input policy `TRUSTED` may not read it.' },
    TRUSTED: { value: 'trusted', description: 'Every tool may read it.' },
  } as const,
});

const OverrideType = builder.objectRef<ToolOverride>('ToolOverride').implement({
  description: 'A tool that is blocked for one team or for one key.',
  fields: (t) => ({
    overrideId: t.exposeID('id', { description: 'Id, as in the HTTP API.' }),
    teamId: t.exposeString('teamId', { nullable: true, description: 'Local id of the team. Null for a key.' }),
    keyHash: t.exposeString('keyHash', { nullable: true, description: 'Hash of the key. Null for a team.' }),
    alias: t.exposeString('alias', {
      nullable: true,
      description: 'Alias of the team or key when the tool was blocked. Null without one.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the tool was blocked.' }),
  }),
});

const CallType = builder.objectRef<ToolCallEntry>('ToolCallEntry').implement({
  description: 'A request that called a tool.',
  fields: (t) => ({
    requestId: t.exposeID('requestId', { description: 'Id of the request, as in the spend logs.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When the request started.' }),
    model: t.exposeString('model', { description: 'Model that the caller named.' }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Cost of the request in USD, exact. Null when the price is unknown.',
      resolve: ({ cost }) => usdOrNull(cost),
    }),
    tokens: t.exposeFloat('tokens', { description: 'Tokens of the request.' }),
  }),
});

const ToolType = builder.objectRef<Tool>(TYPE);

builder.node(ToolType, {
  description: 'A tool that requests offered to models, or that was called through the gateway.',
  id: { resolve: ({ id }) => id },
  async loadMany(ids, { scope }) {
    const byId = new Map((await getTools(scope, { ids })).map((one) => [one.id, one]));
    return ids.map((id) => byId.get(id) ?? null);
  },
  fields: (t) => ({
    toolId: t.exposeID('id', { description: 'Local id, as in the HTTP API.' }),
    name: t.exposeString('name', { description: NAME }),
    origin: t.exposeString('origin', {
      description: 'Name of the MCP server of the tool; `user_defined` for a tool of a client.',
    }),
    inputPolicy: t.field({
      type: InputPolicyType,
      description: 'What the tool may read.',
      resolve: ({ inputPolicy }) => inputPolicy,
    }),
    outputPolicy: t.field({
      type: OutputPolicyType,
      description: 'Whether its output is safe for all tools.',
      resolve: ({ outputPolicy }) => outputPolicy,
    }),
    callCount: t.exposeFloat('callCount', {
      description: 'Number of calls. Those of the last seconds may be missing.',
    }),
    keyHash: t.exposeString('keyHash', {
      nullable: true,
      description: 'Hash of the first key that used it. Null before the first use.',
    }),
    teamId: t.exposeString('teamId', {
      nullable: true,
      description: 'Local id of the first team that used it. Null for a key without a team, and before the first use.',
    }),
    userAgent: t.exposeString('userAgent', {
      nullable: true,
      description: 'Client of the first use. Null when unknown.',
    }),
    lastUsedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When a request last offered or called it, within an hour. Null before the first use.',
      resolve: ({ lastUsedAt }) => lastUsedAt,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first used or named.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its policies were last changed.' }),
    overrides: t.field({
      type: [OverrideType],
      nullable: true,
      description: 'Teams and keys for which it is blocked, the oldest first.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: async ({ name }, _args, { scope }) => [...(await getToolDetail(scope, { name })).overrides],
    }),
    calls: t.field({
      type: [CallType],
      nullable: true,
      description: 'Requests that called it, the latest first. They are stored for 90 days.',
      complexity: ({ first }) => ({ field: 1, multiplier: Math.max(0, Math.min(first ?? MAX_CALLS, MAX_CALLS)) }),
      args: {
        first: t.arg.int({ description: 'Number of requests, 1 to 100; 100 when absent.' }),
        offset: t.arg.int({ description: 'Number of later requests to skip; 0 when absent.' }),
      },
      async resolve({ name }, { first, offset }, { scope }) {
        const limit = checkedPageSize(first ?? MAX_CALLS, { name: 'first', max: MAX_CALLS });
        if ((offset ?? 0) < 0) throw new InvalidInput('`offset` must be at least 0.');
        return [...(await listToolCalls(scope, { name, from: null, to: null, limit, offset: offset ?? 0 })).calls];
      },
    }),
  }),
});

const FilterType = builder.inputType('ToolFilter', {
  description: 'Filter of tools. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
    inputPolicy: t.field({ type: InputPolicyType, description: 'Exact input policy.' }),
    hasPolicy: t.boolean({ description: 'Whether a policy differs from the default, which is `UNTRUSTED`.' }),
  }),
});

const OrderType = rowOrder(TYPE, 'tools', {
  NAME: { value: 'name', description: 'Name.' },
  CALL_COUNT: { value: 'call_count', description: 'Number of calls.' },
});

builder.queryField('tools', (t) =>
  t.connection(
    {
      type: ToolType,
      description: `Tools that models were offered or called, newest first by default. ${VIEWERS} At most 100 a page.`,
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All tools when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = readOrderedPage<'name' | 'call_count'>(args, args.orderBy);
        const conditions = {
          ...ALL_TOOLS,
          nameContains: nullIfBlank(filter?.name),
          inputPolicy: filter?.inputPolicy ?? null,
          isRestricted: filter?.hasPolicy ?? null,
        };
        const placeOf = (row: Tool) => {
          if (page.sort === 'created_at') return row;
          return { text: page.sort === 'name' ? row.name : String(row.callCount), id: row.id };
        };
        return rowConnection(await listTools(scope, { filter: conditions, page }), page, placeOf);
      },
    },
    { ...pageType(TYPE, 'tools'), fields: (pageFields) => totalCount(pageFields, 'tools') },
    edgeType(TYPE, 'tool'),
  ),
);

builder.queryField('tool', (t) =>
  t.field({
    type: ToolType,
    nullable: true,
    description: `A tool by its name. Null when there is none. ${VIEWERS}`,
    args: { name: t.arg.string({ required: true, description: NAME }) },
    resolve: (_root, { name }, { scope }) =>
      getTool(scope, { name }).catch((error: unknown) => {
        if (error instanceof NotFound) return null;
        throw error;
      }),
  }),
);

const PolicyType = builder.objectRef<ChangedToolPolicy>('ToolPolicy').implement({
  description: 'Policies of a tool: for one team or key, or for all callers.',
  fields: (t) => ({
    name: t.exposeString('name', { description: NAME }),
    inputPolicy: t.field({
      type: InputPolicyType,
      nullable: true,
      description: 'What the tool may read. Null when unchanged.',
      resolve: ({ inputPolicy }) => inputPolicy,
    }),
    outputPolicy: t.field({
      type: OutputPolicyType,
      nullable: true,
      description: 'Whether its output is safe for all tools. Null for a policy of one team or key.',
      resolve: ({ outputPolicy }) => outputPolicy,
    }),
    teamId: t.exposeString('teamId', { nullable: true, description: 'Local id of the team. Null for other policies.' }),
    keyHash: t.exposeString('keyHash', { nullable: true, description: 'Hash of the key. Null for other policies.' }),
  }),
});

const TEAM = 'Team: global id or local id.';
const KEY = 'Hash of the key.';

const SetInput = builder.inputType('SetToolPolicyInput', {
  description:
    'Policies of a tool for all callers. With a team or a key, `BLOCKED` blocks the tool for them, and another input policy ends the block.',
  fields: (t) => ({
    name: t.string({ required: true, description: NAME }),
    inputPolicy: t.field({ type: InputPolicyType, description: 'What the tool may read; unchanged when absent.' }),
    outputPolicy: t.field({
      type: OutputPolicyType,
      description: 'Whether its output is safe for all tools; unchanged when absent. Not for one team or key.',
    }),
    team: t.id({ description: `${TEAM} Not together with \`key\`.` }),
    key: t.string({ description: `${KEY} Not together with \`team\`.` }),
  }),
});

const DeleteInput = builder.inputType('DeleteToolOverrideInput', {
  description: 'The tool, and the team or key whose block ends.',
  fields: (t) => ({
    name: t.string({ required: true, description: NAME }),
    team: t.id({ description: `${TEAM} Not together with \`key\`.` }),
    key: t.string({ description: `${KEY} Not together with \`team\`.` }),
  }),
});

const scopeIn = ({ team, key }: Pick<typeof DeleteInput.$inferInput, 'team' | 'key'>) => ({
  teamId: team === null || team === undefined ? null : localId('Team', team),
  key: key ?? null,
});

builder.mutationFields((t) => ({
  setToolPolicy: t.field({
    type: PolicyType,
    description: `Sets the policies of a tool. ${ENFORCED}`,
    args: { input: t.arg({ type: SetInput, required: true, description: 'The tool and its policies.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'SetToolPolicyResult', description: 'The policies, or why they were not set.' },
    },
    resolve: (_root, { input: { name, inputPolicy, outputPolicy, ...of } }, { scope }) =>
      setToolPolicy(scope, {
        name,
        inputPolicy: inputPolicy ?? null,
        outputPolicy: outputPolicy ?? null,
        ...scopeIn(of),
      }),
  }),
  deleteToolOverride: t.field({
    type: OverrideType,
    description: `Ends a block of a tool for one team or key. ${ENFORCED}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The block.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteToolOverrideResult', description: 'The removed block, or why it was not removed.' },
    },
    resolve: (_root, { input: { name, ...of } }, { scope }) => deleteToolOverride(scope, { name, ...scopeIn(of) }),
  }),
}));
