import { listUsableSearchTools, searchWeb } from '../resolvers/search.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { descriptionOf, providerOf, type SearchTool } from '../src/domain/search-tools/search-tool.ts';
import type { SearchResult } from '../src/domain/search-tools/search.ts';
import { parseBody } from './helpers/http/json-body.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { gatewayLabels } from './helpers/model-call/labels.ts';
import { callContext, callHeaders } from './helpers/model-call/model-call.ts';

/** Schemas of the parameters of a search. Further members are passed to the provider. */
const PARAMETERS = {
  query: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  max_results: { type: ['integer', 'null'] },
  search_domain_filter: { type: ['array', 'null'], items: { type: 'string' } },
  max_tokens_per_page: { type: ['integer', 'null'] },
  country: { type: ['string', 'null'] },
};

/** A result in the format of Perplexity. */
const renderResult = ({ title, url, snippet, date, lastUpdated }: SearchResult) => ({
  title,
  url,
  snippet,
  date,
  last_updated: lastUpdated,
});

async function handleSearch(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const fields = parseBody(request.body);
  const facts = { ...callContext(request), ...gatewayLabels(request, fields, '/search') };
  const { call, results } = await searchWeb(scope, { toolName: request.params['tool'] ?? null, fields, facts });
  const value = { object: 'search', results: results.map(renderResult) };
  return { headerLines: callHeaders(call, scope), body: { kind: 'json', value } };
}

const renderTool = (tool: SearchTool) => ({
  search_tool_name: tool.name,
  search_provider: providerOf(tool),
  description: descriptionOf(tool),
});

const SEARCH = {
  surface: 'proxy',
  relays: 'failures',
  credential: 'required',
  method: 'POST',
  statuses: [200, 400, 401, 403, 404, 408, 422, 429, 500, 503],
  bodyLimit: 'setting',
  handle: handleSearch,
} as const satisfies Partial<RouteRow>;

/** Web searches, in the format of Perplexity. */
export const searchRoutes: readonly RouteRow[] = [
  {
    ...SEARCH,
    name: 'search.call',
    paths: ['/v1/search', '/search'],
    bodySchema: objectSchema({ search_tool_name: { type: 'string' }, ...PARAMETERS }, ['search_tool_name', 'query']),
  },
  {
    ...SEARCH,
    name: 'search.callTool',
    paths: ['/v1/search/:tool', '/search/:tool'],
    bodySchema: objectSchema(PARAMETERS, ['query']),
  },
  route({
    surface: 'proxy',
    credential: 'required',
    method: 'GET',
    bodyLimit: 0,
    name: 'search.tools',
    paths: ['/v1/search/tools', '/search/tools'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listUsableSearchTools,
    render: (tools) => json({ object: 'list', data: tools.map(renderTool) }),
  }),
];
