import {
  deleteToolOverride,
  getTool,
  getToolDetail,
  getToolPolicyOptions,
  getToolSpend,
  listToolCalls,
  listTools,
  setToolPolicy,
} from '../resolvers/tools.ts';
import { usdNumber } from '../src/domain/money.ts';
import {
  ALL_TOOLS,
  INPUT_POLICIES,
  MAX_NAMED_TOOLS,
  MAX_TOOLS,
  OUTPUT_POLICIES,
  type Tool,
  type ToolInputPolicy,
  type ToolOutputPolicy,
  type ToolOverride,
} from '../src/domain/tools/tool.ts';
import type { ToolCallEntry } from '../src/domain/tools/tool-use.ts';
import { literalOf, members, parseObject, requiredText, text } from './helpers/http/body-fields.ts';
import { choiceOf, integer, query, rowsBefore, text as parameter } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const readPolicy = members({
  tool_name: requiredText,
  input_policy: literalOf(INPUT_POLICIES),
  output_policy: literalOf(OUTPUT_POLICIES),
  team_id: text,
  key_hash: text,
  key_alias: text,
});
const readFilter = query({ input_policy: choiceOf(INPUT_POLICIES) });
const readPeriod = query({ start_date: parameter, end_date: parameter });
const readScope = query({ team_id: parameter, key_hash: parameter });
const MAX_PAGE_SIZE = 100;
const readPage = query({
  page: integer({ min: 1, max: 1_000_000, defaultValue: 1 }),
  page_size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: 50 }),
  start_date: parameter,
  end_date: parameter,
});

const nameIn = ({ params: { name = '' } }: HttpRequest): { readonly name: string } => ({ name });

function renderTool(tool: Tool) {
  return {
    tool_id: tool.id,
    tool_name: tool.name,
    origin: tool.origin,
    input_policy: tool.inputPolicy,
    output_policy: tool.outputPolicy,
    call_count: tool.callCount,
    assignments: null,
    key_hash: tool.keyHash,
    team_id: tool.teamId,
    key_alias: tool.keyAlias,
    user_agent: tool.userAgent,
    last_used_at: tool.lastUsedAt?.toISOString() ?? null,
    created_at: tool.createdAt.toISOString(),
    updated_at: tool.updatedAt.toISOString(),
    created_by: tool.createdBy,
    updated_by: tool.updatedBy,
  };
}

const renderOverride = (one: ToolOverride) => ({
  override_id: one.id,
  tool_name: one.toolName,
  team_id: one.teamId,
  key_hash: one.keyHash,
  input_policy: 'blocked',
  key_alias: one.alias,
  created_at: one.createdAt.toISOString(),
  updated_at: one.updatedAt.toISOString(),
});

/** A request that called the tool. The snippet is null, because texts are not stored with it. */
const renderCall = (one: ToolCallEntry) => ({
  id: one.requestId,
  timestamp: one.at.toISOString(),
  model: one.model,
  spend: one.cost === null ? null : usdNumber(one.cost),
  total_tokens: one.tokens,
  input_snippet: null,
});

/** Values of input policies with their meaning, for forms. */
interface PolicyOption {
  readonly value: string;
  readonly label: string;
  readonly description: string;
}

const INPUT_OPTIONS: Readonly<Record<ToolInputPolicy, PolicyOption>> = {
  untrusted: {
    value: 'untrusted',
    label: 'Untrusted',
    description: 'The tool may read every conversation. The policy of new tools.',
  },
  trusted: {
    value: 'trusted',
    label: 'Trusted',
    description: 'The tool is refused when the conversation has output of a tool whose output policy is untrusted.',
  },
  blocked: { value: 'blocked', label: 'Blocked', description: 'Every call with the tool is refused.' },
};
/** Values of output policies with their meaning, for forms. */
const OUTPUT_OPTIONS: Readonly<Record<ToolOutputPolicy, PolicyOption>> = {
  untrusted: {
    value: 'untrusted',
    label: 'Untrusted',
    description: 'The output may contain instructions of others. Tools with the input policy trusted may not read it.',
  },
  trusted: { value: 'trusted', label: 'Trusted', description: 'The output is safe for every tool.' },
};

const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;

/** Tools of models, their policies, and the requests that called them. */
export const toolRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'tools.list',
    querySchema: readFilter.schema,
    paths: ['/v1/tool/list'],
    statuses: [200, 401, 422],
    parse: ({ search }) => ({
      filter: { ...ALL_TOOLS, inputPolicy: readFilter(search).input_policy },
      page: { sort: 'created_at' as const, descending: true, limit: MAX_TOOLS + MAX_NAMED_TOOLS, from: 0 as const },
    }),
    run: listTools,
    render: ({ nodes, totalCount }) => json({ tools: nodes.map(renderTool), total: totalCount }),
  }),
  route({
    ...READ,
    name: 'tools.options',
    paths: ['/v1/tool/policy/options'],
    statuses: [200, 401],
    parse: () => undefined,
    run: getToolPolicyOptions,
    render: ({ input, output }) =>
      json({
        input_policies: input.map((one) => INPUT_OPTIONS[one]),
        output_policies: output.map((one) => OUTPUT_OPTIONS[one]),
      }),
  }),
  route({
    ...READ,
    name: 'tools.spend',
    querySchema: readPeriod.schema,
    paths: ['/v1/tool/spend'],
    statuses: [200, 400, 401],
    parse({ search }) {
      const { start_date: from, end_date: to } = readPeriod(search);
      return { from, to };
    },
    run: getToolSpend,
    render: ({ tools, days, from, to }) =>
      json({
        by_tool: tools.map(({ name, calls, cost, tokens }) => ({
          tool_name: name,
          spend: usdNumber(cost),
          call_count: calls,
          total_tokens: tokens,
        })),
        daily: days.map(({ day, name, calls, cost }) => ({
          date: day,
          tool_name: name,
          spend: usdNumber(cost),
          call_count: calls,
        })),
        start_date: from,
        end_date: to,
      }),
  }),
  route({
    ...CHANGE,
    name: 'tools.setPolicy',
    bodySchema: readPolicy.schema,
    paths: ['/v1/tool/policy'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse({ body }) {
      const sent = readPolicy(parseObject(body));
      return {
        name: sent.tool_name,
        inputPolicy: sent.input_policy,
        outputPolicy: sent.output_policy,
        teamId: sent.team_id,
        key: sent.key_hash,
      };
    },
    run: setToolPolicy,
    render: ({ name, inputPolicy, outputPolicy, teamId, keyHash }) =>
      json({
        tool_name: name,
        input_policy: inputPolicy,
        output_policy: outputPolicy,
        updated: true,
        team_id: teamId,
        key_hash: keyHash,
      }),
  }),
  route({
    ...READ,
    name: 'tools.detail',
    paths: ['/v1/tool/:name/detail'],
    statuses: [200, 401, 404],
    parse: nameIn,
    run: getToolDetail,
    render: ({ tool, overrides }) => json({ tool: renderTool(tool), overrides: overrides.map(renderOverride) }),
  }),
  route({
    ...READ,
    name: 'tools.logs',
    querySchema: readPage.schema,
    paths: ['/v1/tool/:name/logs'],
    statuses: [200, 400, 401, 422],
    parse(request) {
      const { page, page_size: size, start_date: from, end_date: to } = readPage(request.search);
      const limit = Number(size);
      return { ...nameIn(request), from, to, limit, offset: rowsBefore(Number(page), limit) };
    },
    run: listToolCalls,
    render({ calls, totalCount }, { search }) {
      const { page, page_size: size } = readPage(search);
      return json({ logs: calls.map(renderCall), total: totalCount, page: Number(page), page_size: Number(size) });
    },
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'tools.deleteOverride',
    querySchema: readScope.schema,
    paths: ['/v1/tool/:name/overrides'],
    statuses: [200, 400, 401, 403, 404],
    parse(request) {
      const { team_id: teamId, key_hash: key } = readScope(request.search);
      return { ...nameIn(request), teamId, key };
    },
    run: deleteToolOverride,
    render: ({ toolName }) => json({ deleted: true, tool_name: toolName }),
  }),
  route({
    ...READ,
    name: 'tools.get',
    paths: ['/v1/tool/:name'],
    statuses: [200, 401, 404],
    parse: nameIn,
    run: getTool,
    render: (tool) => json(renderTool(tool)),
  }),
];
