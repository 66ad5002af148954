import {
  createSearchTool,
  deleteSearchTool,
  getSearchTool,
  listSearchProviders,
  listSearchTools,
  testSearchTool,
  updateSearchTool,
} from '../resolvers/search-tools.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { SearchTool } from '../src/domain/search-tools/search-tool.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import {
  dictionary,
  type FieldReader,
  members,
  object,
  optional,
  parseObject,
  required,
  requiredText,
} from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described, objectSchema } from './helpers/http/schema.ts';

const objectOrNull: FieldReader<SearchTool['info']> = described({ type: ['object', 'null'] }, (input) =>
  input === null ? { value: null } : object(input),
);

const readTool = members({
  search_tool_name: requiredText,
  litellm_params: required(dictionary),
  search_tool_info: optional(objectOrNull),
});
/** Reads only the outer object of `{search_tool: {…}}`. `WRAPPED` is the schema of the whole body. */
const readOuter = members({ search_tool: required(dictionary) });
const WRAPPED = objectSchema({ search_tool: readTool.schema }, ['search_tool']);
const readTest = members({ litellm_params: required(dictionary) });

/** Parses the body `{search_tool: {…}}`. Throws InvalidInput, with the path of each fault in the whole body. */
function parseWrapped({ body }: HttpRequest) {
  const { search_tool: tool } = readOuter(parseObject(body));
  try {
    const { search_tool_name: name, litellm_params: params, search_tool_info: info } = readTool(tool);
    return { name, params, info };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const issues = error.issues.map(({ path, ...issue }) => ({
      ...issue,
      path: ['body', 'search_tool', ...path.slice(1)],
    }));
    throw new InvalidInput(error.message, issues);
  }
}

function parseNew(request: HttpRequest) {
  const { info = null, ...tool } = parseWrapped(request);
  return { ...tool, info };
}

function parsePatch(request: HttpRequest) {
  const { info, ...tool } = parseWrapped(request);
  return { ...parseId(request), patch: { ...tool, ...(info === undefined ? {} : { info }) } };
}

const parseId = ({ params: { id = '' } }: HttpRequest) => ({ id });

/** A tool in the answer to a change. Secrets are redacted. */
const renderChanged = (one: SearchTool) => ({
  search_tool_id: one.id,
  search_tool_name: one.name,
  litellm_params: redacted('litellm_params', one.params, 'admin'),
  search_tool_info: one.info ?? {},
  created_at: one.createdAt?.toISOString() ?? null,
  updated_at: one.updatedAt?.toISOString() ?? null,
});

const renderTool = (one: SearchTool) => ({ ...renderChanged(one), is_from_config: one.isFromConfig });

const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;

/** Search tools: accounts of providers of web searches. */
export const searchToolRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'searchTools.list',
    paths: ['/search_tools/list'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listSearchTools,
    render: (tools) => json({ search_tools: tools.map(renderTool) }),
  }),
  route({
    ...CHANGE,
    name: 'searchTools.create',
    bodySchema: WRAPPED,
    paths: ['/search_tools'],
    statuses: [200, 400, 401, 403, 422],
    parse: parseNew,
    run: createSearchTool,
    render: (one) => json(renderChanged(one)),
  }),
  route({
    ...READ,
    name: 'searchTools.providers',
    paths: ['/search_tools/ui/available_providers'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listSearchProviders,
    render: (vendors) =>
      json({ providers: vendors.map(({ name, title }) => ({ provider_name: name, ui_friendly_name: title })) }),
  }),
  route({
    ...CHANGE,
    name: 'searchTools.test',
    bodySchema: readTest.schema,
    paths: ['/search_tools/test_connection'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => ({ params: readTest(parseObject(body)).litellm_params }),
    run: testSearchTool,
    render: (test) =>
      json(
        'failure' in test
          ? { status: 'error', message: test.failure, error_type: test.kind }
          : {
              status: 'success',
              message: 'The search tool answered the test query.',
              test_query: test.query,
              results_count: test.results,
            },
      ),
  }),
  route({
    ...READ,
    name: 'searchTools.get',
    paths: ['/search_tools/:id'],
    statuses: [200, 401, 404],
    parse: parseId,
    run: getSearchTool,
    render: (one) => json(renderTool(one)),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'searchTools.update',
    bodySchema: WRAPPED,
    paths: ['/search_tools/:id'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parsePatch,
    run: updateSearchTool,
    render: (one) => json(renderChanged(one)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'searchTools.delete',
    paths: ['/search_tools/:id'],
    statuses: [200, 400, 401, 403, 404],
    parse: parseId,
    run: deleteSearchTool,
    render: ({ id, name }) => json({ message: `Search tool ${id} deleted successfully`, search_tool_name: name }),
  }),
];
