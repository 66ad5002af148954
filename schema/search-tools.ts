import { searchWeb } from '../resolvers/search.ts';
import {
  createSearchTool,
  deleteSearchTool,
  getSearchTool,
  listSearchTools,
  testSearchTool,
  updateSearchTool,
} from '../resolvers/search-tools.ts';
import type { FoundResults } from '../resolvers/operation/search-calls.ts';
import { callerId } from '../src/domain/calls/caller-id.ts';
import { Conflict, InvalidInput, LimitExceeded, NotFound, Rejected, UpstreamFailed } from '../src/domain/errors.ts';
import { providerOf, type SearchTool } from '../src/domain/search-tools/search-tool.ts';
import type { SearchResult } from '../src/domain/search-tools/search.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import { parseTraceparent } from '../src/domain/traces/trace-context.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { usdOrNull } from './base/decimal.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { CALL_COST, LIST_LENGTH } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';
import { callFields } from './base/shared-fields.ts';

const TYPE = 'SearchTool';
const TOOL_ID = 'The search tool: global id or `searchToolId`.';
const NAME = 'Name of the tool in searches.';
const INFO = 'Free-form information: an object, such as `{description: "…"}`.';
const PARAMS =
  'Settings of the tool: an object with `search_provider`, `api_key`, `api_base`, `timeout` in seconds, and `input_cost_per_query` in USD.';

const SearchToolType = builder.objectRef<SearchTool>(TYPE);

builder.node(SearchToolType, {
  description: 'An account of a provider of web searches, which keys use by its name.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getSearchTool(scope, { id })),
  fields: (t) => ({
    searchToolId: t.exposeString('id', { description: 'Local id, as in the HTTP API.' }),
    name: t.exposeString('name', { description: NAME }),
    provider: t.string({
      description: 'Provider of the searches, such as `perplexity`. Empty when the settings cannot be decrypted.',
      resolve: providerOf,
    }),
    params: t.field({
      type: 'JSON',
      description: 'Settings of the tool, as `litellm_params` in the HTTP API. Secrets are `REDACTED`.',
      resolve: ({ params }) => redacted('litellm_params', params, 'admin') as SearchTool['params'],
    }),
    info: t.field({
      type: 'JSON',
      nullable: true,
      description: `${INFO} Null when none is set.`,
      resolve: ({ info }) => info,
    }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the tool was created. Null for a tool of the configuration file.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the tool was last changed. Null for a tool of the configuration file.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const SearchToolFilterType = builder.inputType('SearchToolFilter', {
  description: 'Filter of search tools. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
    provider: t.string({ description: 'Exact provider.' }),
  }),
});

const SearchToolOrderType = valueOrder('SearchTool', 'search tools', {
  NAME: { value: 'name', description: 'Name.' },
  PROVIDER: { value: 'provider', description: 'Provider.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When the tool was created; tools of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  name: ({ name }: SearchTool) => name,
  provider: providerOf,
  created_at: ({ createdAt }: SearchTool) => createdAt?.getTime() ?? 0,
};

type Filter = typeof SearchToolFilterType.$inferInput | null | undefined;

const matches = (tool: SearchTool, filter: Filter): boolean =>
  containsText(tool.name, filter?.name) && matchesValue(providerOf(tool), filter?.provider);

const idOf = ({ id }: SearchTool) => id;

builder.queryField('searchTools', (t) =>
  t.connection(
    {
      type: SearchToolType,
      description:
        'Search tools, by default those of the configuration file first. For proxy administrators with full or read-only access.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: SearchToolFilterType, description: 'All search tools when absent.' }),
        orderBy: t.arg({ type: SearchToolOrderType, description: 'The order of creation when absent.' }),
      },
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listSearchTools(scope, undefined).filter((row) => matches(row, filter));
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    { ...pageType('SearchTool', 'search tools'), fields: (pageFields) => totalCount(pageFields, 'search tools') },
    edgeType('SearchTool', 'search tool'),
  ),
);

const CreateInput = builder.inputType('CreateSearchToolInput', {
  description: 'A search tool to store.',
  fields: (t) => ({
    name: t.string({ required: true, description: `${NAME} Unique.` }),
    params: t.field({ type: 'JSON', required: true, description: `${PARAMS} The settings are stored encrypted.` }),
    info: t.field({ type: 'JSON', description: INFO }),
  }),
});

const UpdateInput = builder.inputType('UpdateSearchToolInput', {
  description: 'Changes to a search tool. Absent members stay as they are.',
  fields: (t) => ({
    searchTool: t.id({ required: true, description: TOOL_ID }),
    name: t.string({ description: `${NAME} Unique.` }),
    params: t.field({
      type: 'JSON',
      description: `${PARAMS} Replaces all stored settings; \`REDACTED\` leaves a secret unchanged.`,
    }),
    info: t.field({ type: 'JSON', description: `${INFO} Null removes it.` }),
  }),
});

const DeleteInput = builder.inputType('DeleteSearchToolInput', {
  description: 'The search tool to remove.',
  fields: (t) => ({ searchTool: t.id({ required: true, description: TOOL_ID }) }),
});

const TestInput = builder.inputType('TestSearchToolInput', {
  description: 'Settings of a search tool to test.',
  fields: (t) => ({ params: t.field({ type: 'JSON', required: true, description: PARAMS }) }),
});

const TestType = builder
  .objectRef<{ readonly results: number | null; readonly failure: string | null }>('SearchToolTest')
  .implement({
    description: 'Result of a test of a search tool.',
    fields: (t) => ({
      results: t.exposeInt('results', {
        nullable: true,
        description: 'Number of results of the test query. Null after a failure.',
      }),
      failure: t.exposeString('failure', { nullable: true, description: 'Why the test failed. Null after a success.' }),
    }),
  });

const infoOf = (input: unknown): SearchTool['info'] =>
  input === null || input === undefined ? null : readObject(input, 'info');

function patchOf({ name, params, info }: typeof UpdateInput.$inferInput) {
  return {
    ...(name === null || name === undefined ? {} : { name }),
    ...(params === null || params === undefined ? {} : { params: readObject(params, 'params') }),
    ...(info === undefined ? {} : { info: infoOf(info) }),
  };
}

builder.mutationFields((t) => ({
  createSearchTool: t.field({
    type: SearchToolType,
    description: `Stores a search tool. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The search tool.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateSearchToolResult', description: 'The search tool, or why it was not stored.' },
    },
    resolve: (_root, { input: { name, params, info } }, { scope }) =>
      createSearchTool(scope, { name, params: readObject(params, 'params'), info: infoOf(info) }),
  }),
  updateSearchTool: t.field({
    type: SearchToolType,
    description: `Changes a search tool. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The search tool and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateSearchToolResult', description: 'The changed search tool, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      updateSearchTool(scope, { id: localId(TYPE, input.searchTool), patch: patchOf(input) }),
  }),
  deleteSearchTool: t.field({
    type: SearchToolType,
    description: `Removes a search tool. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The search tool.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'DeleteSearchToolResult', description: 'The removed search tool, or why it was not removed.' },
    },
    resolve: (_root, { input }, { scope }) => deleteSearchTool(scope, { id: localId(TYPE, input.searchTool) }),
  }),
  testSearchTool: t.field({
    type: TestType,
    description:
      'Sends a search with settings that are not stored. The search is charged and recorded. For proxy administrators.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: TestInput, required: true, description: 'The settings.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'TestSearchToolResult', description: 'The result of the test, or why it was not made.' },
    },
    async resolve(_root, { input: { params } }, { scope }) {
      const test = await testSearchTool(scope, { params: readObject(params, 'params') });
      return 'failure' in test ? { results: null, failure: test.failure } : { results: test.results, failure: null };
    },
  }),
}));

const ResultType = builder.objectRef<SearchResult>('WebSearchResult').implement({
  description: 'One result of a search of the web.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'Title of the page. Empty when the provider gives none.' }),
    url: t.exposeString('url', { description: 'Address of the page.' }),
    snippet: t.exposeString('snippet', { description: 'Text of the page.' }),
    date: t.exposeString('date', {
      nullable: true,
      description: 'Date of the page, as the provider writes it. Null when unknown.',
    }),
    lastUpdated: t.exposeString('lastUpdated', {
      nullable: true,
      description: 'When the page was last changed, as the provider writes it. Null when unknown.',
    }),
  }),
});

const SearchType = builder.objectRef<FoundResults>('WebSearch').implement({
  description: 'Results of a search of the web.',
  fields: (t) => ({
    callId: t.id({
      description: 'Id of the call: `callId` of the input, or generated.',
      resolve: ({ call }) => call.callId,
    }),
    results: t.field({
      type: [ResultType],
      description: 'The results, the best first.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ results }) => [...results],
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Cost in USD, exact. Null when the price is unknown.',
      resolve: ({ call }) => usdOrNull(call.cost()),
    }),
  }),
});

const SearchInput = builder.inputType('SearchWebInput', {
  description: 'A search of the web.',
  fields: (t) => ({
    searchTool: t.string({ required: true, description: 'Name of the search tool.' }),
    queries: t.stringList({ required: true, description: 'One to five texts to search for.' }),
    maxResults: t.int({ description: 'Maximum number of results, 1 to 100. The default of the provider when absent.' }),
    domains: t.stringList({
      description: 'Domains to which results are limited, at most 20. All domains when absent or empty.',
    }),
    maxTokensPerPage: t.int({ description: 'Maximum number of tokens of the text of a result.' }),
    country: t.string({ description: 'Country code of two letters.' }),
    parameters: t.field({ type: 'JSON', description: 'Further parameters for the provider: an object.' }),
    ...callFields(t),
  }),
});

builder.mutationField('searchWeb', (t) =>
  t.field({
    type: SearchType,
    description: 'Searches the web with a search tool. The search is charged and recorded as a search over HTTP.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: SearchInput, required: true, description: 'The search.' }) },
    errors: {
      types: [InvalidInput, NotFound, LimitExceeded, Rejected, UpstreamFailed],
      union: { name: 'SearchWebResult', description: 'The results, or why the search failed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      searchWeb(scope, {
        toolName: input.searchTool,
        fields: {
          ...readObject(input.parameters, 'parameters'),
          query: input.queries,
          max_results: input.maxResults,
          search_domain_filter: input.domains,
          max_tokens_per_page: input.maxTokensPerPage,
          country: input.country,
        },
        facts: { callId: callerId(input.callId), parent: parseTraceparent(input.traceparent ?? undefined) },
      }),
  }),
);
