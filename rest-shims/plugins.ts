import { checkCaller } from '../resolvers/health.ts';
import {
  deletePlugin,
  getPlugin,
  listPlugins,
  readMarketplace,
  registerPlugin,
  replacePlugin,
  switchPlugin,
} from '../resolvers/plugins.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { frozenMemo } from '../src/domain/frozen-memo.ts';
import {
  ALL_PLUGINS,
  MAX_PLUGINS,
  type Plugin,
  type PluginAuthor,
  type PluginDraft,
  SOURCE_KINDS,
} from '../src/domain/plugins/plugin.ts';
import {
  dictionary,
  type FieldReader,
  literalOf,
  members,
  parseObject,
  required,
  requiredText,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { flag, query } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described, orNullSchema } from './helpers/http/schema.ts';

const readSourceMembers = members({
  source: required(literalOf(SOURCE_KINDS)),
  repo: text,
  url: text,
  path: text,
  ref: text,
  sha: text,
});
const readAuthorMembers = members({ name: requiredText, email: text });

const sourceObject: FieldReader<Readonly<Record<string, unknown>>> = required(
  described(readSourceMembers.schema, (input: unknown) => dictionary(input)),
);
const authorObject: FieldReader<Readonly<Record<string, unknown>> | null> = described(
  orNullSchema(readAuthorMembers.schema),
  (input) => (input === undefined || input === null ? { value: null } : dictionary(input)),
);

const CONTENT = {
  source: sourceObject,
  version: text,
  description: text,
  author: authorObject,
  homepage: text,
  keywords: texts,
  category: text,
  domain: text,
  namespace: text,
} as const;
const readPlugin = members({ name: requiredText, ...CONTENT });
const readReplaced = members({ name: text, ...CONTENT });

const parsePlugin = ({ body }: HttpRequest): PluginDraft => draftOf(readPlugin(parseObject(body)));

/** The path names the plugin. Throws InvalidInput for another name in the body. */
function parseReplaced({ body, params: { name = '' } }: HttpRequest): PluginDraft {
  const sent = readReplaced(parseObject(body));
  if (sent.name !== null && sent.name !== name)
    throw new InvalidInput('name must be the name in the path: a plugin cannot be renamed');
  return draftOf({ ...sent, name });
}

function draftOf({ source: sentSource, author, ...plugin }: ReturnType<typeof readPlugin>): PluginDraft {
  const { source, ...place } = readSourceMembers(sentSource, ['body', 'source']);
  // The reader reads null as an absent kind.
  if (source === null) throw new InvalidInput('source.source must not be null');
  return {
    ...plugin,
    source: { source, ...place },
    author: author === null ? null : readAuthorMembers(author, ['body', 'author']),
  };
}

const readList = query({ enabled_only: flag });

const parseName = ({ params: { name = '' } }: HttpRequest) => ({ name });

const renderAuthor = ({ name, email }: PluginAuthor) => ({ name, ...(email === null ? {} : { email }) });

const renderPlugin = (one: Plugin) => ({
  id: one.id,
  name: one.name,
  version: one.version,
  description: one.description,
  source: one.source,
  author: one.author === null ? null : renderAuthor(one.author),
  homepage: one.homepage,
  keywords: one.keywords,
  category: one.category,
  domain: one.domain,
  namespace: one.namespace,
  enabled: one.enabled,
  created_at: one.createdAt.toISOString(),
  updated_at: one.updatedAt.toISOString(),
  created_by: one.createdBy,
});

/** A plugin in the marketplace format of Claude Code, which has no null members. */
const renderEntry = ({ name, source, version, description, author, homepage, keywords, category }: Plugin) => ({
  name,
  source,
  ...(version === null ? {} : { version }),
  ...(description === null ? {} : { description }),
  ...(author === null ? {} : { author: renderAuthor(author) }),
  ...(homepage === null ? {} : { homepage }),
  ...(keywords.length === 0 ? {} : { keywords }),
  ...(category === null ? {} : { category }),
});

/** Clients install `my-plugin@litellm`: their settings have the name of the reference. */
const MARKETPLACE = { name: 'litellm', owner: { name: 'LiteLLM', email: 'support@litellm.ai' } } as const;

/** JSON of the marketplace. Written once for each list of plugins, because clients without a key read it. */
const marketplaceJson = frozenMemo((plugins: readonly Plugin[]): Uint8Array =>
  Buffer.from(JSON.stringify({ ...MARKETPLACE, plugins: plugins.map(renderEntry) })),
);

/** JSON of the public list, as `marketplaceJson`. It has no members for administrators. */
const hubJson = frozenMemo((plugins: readonly Plugin[]): Uint8Array => {
  const shown = plugins
    .map(renderPlugin)
    .map(({ domain: _domain, namespace: _namespace, created_by: _by, ...one }) => one);
  return Buffer.from(JSON.stringify({ plugins: shown, count: shown.length }));
});

const FORM = { failureForm: { body: 'detail' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;
const PATH = '/claude-code/plugins';

/** A row that enables or disables a plugin. */
const switchRow = (name: string, path: string, enabled: boolean): RouteRow =>
  route({
    ...CHANGE,
    bodyLimit: 0,
    name,
    paths: [path],
    statuses: [200, 401, 403, 404],
    parse: (request) => ({ ...parseName(request), enabled }),
    run: switchPlugin,
    render: ({ name: plugin }) =>
      json({ status: 'success', message: `Plugin '${plugin}' ${enabled ? 'enabled' : 'disabled'}` }),
  });

/** Plugins of Claude Code: a marketplace for everyone, and its administration. */
export const pluginRoutes: readonly RouteRow[] = [
  route({
    method: 'GET',
    surface: 'catalog',
    credential: 'none',
    bodyLimit: 0,
    name: 'plugins.marketplace',
    paths: ['/claude-code/marketplace.json'],
    statuses: [200],
    parse: () => undefined,
    run: readMarketplace,
    render: (plugins) => ({
      body: { kind: 'bytes', bytes: marketplaceJson(plugins), contentType: 'application/json' },
    }),
  }),
  route({
    method: 'GET',
    surface: 'catalog',
    credential: 'none',
    bodyLimit: 0,
    name: 'plugins.hub',
    paths: ['/public/skill_hub'],
    statuses: [200],
    parse: () => undefined,
    run: readMarketplace,
    render: (plugins) => ({ body: { kind: 'bytes', bytes: hubJson(plugins), contentType: 'application/json' } }),
  }),
  route({
    ...READ,
    name: 'plugins.list',
    querySchema: readList.schema,
    paths: [PATH],
    statuses: [200, 401, 403, 422],
    parse: ({ search }) => ({
      filter: { ...ALL_PLUGINS, enabled: readList(search).enabled_only === true ? true : null },
      page: { sort: 'created_at', descending: true, limit: MAX_PLUGINS, from: 0 } as const,
    }),
    run: listPlugins,
    render: ({ nodes }) => json({ plugins: nodes.map(renderPlugin), count: nodes.length }),
  }),
  route({
    ...CHANGE,
    name: 'plugins.register',
    bodySchema: readPlugin.schema,
    paths: [PATH],
    statuses: [200, 400, 401, 403, 422],
    parse: parsePlugin,
    run: registerPlugin,
    render: ({ plugin, action }) => json({ status: 'success', action, plugin: renderPlugin(plugin) }),
  }),
  route({
    ...READ,
    name: 'plugins.get',
    paths: [`${PATH}/:name`],
    statuses: [200, 401, 403, 404],
    parse: parseName,
    run: getPlugin,
    render: (one) => json(renderPlugin(one)),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'plugins.replace',
    bodySchema: readReplaced.schema,
    paths: [`${PATH}/:name`],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseReplaced,
    run: replacePlugin,
    render: (plugin) => json({ status: 'success', action: 'updated', plugin: renderPlugin(plugin) }),
  }),
  switchRow('plugins.enable', `${PATH}/:name/enable`, true),
  switchRow('plugins.disable', `${PATH}/:name/disable`, false),
  route({
    ...READ,
    method: 'DELETE',
    name: 'plugins.delete',
    paths: [`${PATH}/:name`],
    statuses: [200, 401, 403, 404],
    parse: parseName,
    run: deletePlugin,
    render: ({ name }) => json({ status: 'success', message: `Plugin '${name}' deleted` }),
  }),
  // Extensions of the dashboard do not exist here.
  route({
    ...MANAGEMENT_READ,
    name: 'plugins.extensions',
    paths: ['/api/plugins'],
    statuses: [200, 401],
    parse: () => undefined,
    run: checkCaller,
    render: () => json([]),
  }),
];
