import {
  deletePlugin,
  getPlugin,
  getPlugins,
  listPlugins,
  registerPlugin,
  switchPlugin,
} from '../resolvers/plugins.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { Plugin, PluginAuthor, PluginSource } from '../src/domain/plugins/plugin.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { rowOrder } from './base/order.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const TYPE = 'Plugin';
const NAME = 'Name of the plugin, in kebab-case.';
const VERSION = 'Version of the plugin.';
const DESCRIPTION = 'What the plugin does.';
const HOMEPAGE = 'Address of a page about the plugin.';
const CATEGORY = 'Category, by which clients group plugins.';
const DOMAIN = 'Grouping for administrators, which clients do not see.';
const NAMESPACE = 'Second grouping for administrators, which clients do not see.';
const TAKES_EFFECT =
  'The marketplace of this process shows it immediately, those of others within seconds. For proxy administrators.';

const SourceKindType = builder.enumType('PluginSourceKind', {
  description: 'Kinds of sources of plugins.',
  values: {
    GITHUB: { value: 'github', description: 'A repository on GitHub: `repo`.' },
    URL: { value: 'url', description: 'A Git repository: `url`.' },
    GIT_SUBDIR: { value: 'git-subdir', description: 'A folder of a Git repository: `url` and `path`.' },
  } as const,
});

const REPO = 'Owner and name of a repository on GitHub, such as `org/my-plugin`.';
const URL_TEXT = 'Address of a Git repository.';
const PATH = 'Path of the folder of the plugin in the repository.';
const REF = 'Branch or tag.';
const SHA = 'Commit: 40 hex digits.';

const SourceType = builder.objectRef<PluginSource>('PluginSource').implement({
  description: 'Where clients get a plugin.',
  fields: (t) => ({
    kind: t.field({ type: SourceKindType, description: 'Kind of the source.', resolve: ({ source }) => source }),
    repo: t.string({
      nullable: true,
      description: `${REPO} Null for other kinds.`,
      resolve: (one) => ('repo' in one ? one.repo : null),
    }),
    url: t.string({
      nullable: true,
      description: `${URL_TEXT} Null for a repository on GitHub by its name.`,
      resolve: (one) => ('url' in one ? one.url : null),
    }),
    path: t.string({
      nullable: true,
      description: `${PATH} Null for other kinds.`,
      resolve: (one) => ('path' in one ? one.path : null),
    }),
    ref: t.string({
      nullable: true,
      description: `${REF} Null for the default branch.`,
      resolve: ({ ref }) => ref ?? null,
    }),
    sha: t.string({
      nullable: true,
      description: `${SHA} Null for the latest commit.`,
      resolve: ({ sha }) => sha ?? null,
    }),
  }),
});

const AuthorType = builder.objectRef<PluginAuthor>('PluginAuthor').implement({
  description: 'Author of a plugin.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the author.' }),
    email: t.exposeString('email', { nullable: true, description: 'Email address. Null when not stated.' }),
  }),
});

const PluginType = builder.objectRef<Plugin>(TYPE);

builder.node(PluginType, {
  description: 'A plugin of Claude Code, which clients install from the marketplace.',
  id: { resolve: ({ id }) => id },
  async loadMany(ids, { scope }) {
    const byId = new Map((await getPlugins(scope, { ids })).map((one) => [one.id, one]));
    return ids.map((id) => byId.get(id) ?? null);
  },
  fields: (t) => ({
    pluginId: t.exposeID('id', { description: 'Local id, as in the HTTP API.' }),
    name: t.exposeString('name', { description: NAME }),
    source: t.field({ type: SourceType, description: 'Where clients get it.', resolve: ({ source }) => source }),
    version: t.exposeString('version', { nullable: true, description: `${VERSION} Null when not stated.` }),
    description: t.exposeString('description', { nullable: true, description: `${DESCRIPTION} Null when not stated.` }),
    author: t.field({
      type: AuthorType,
      nullable: true,
      description: 'Its author. Null when not stated.',
      resolve: ({ author }) => author,
    }),
    homepage: t.exposeString('homepage', { nullable: true, description: `${HOMEPAGE} Null when not stated.` }),
    keywords: t.stringList({ description: 'Words for searches.', resolve: ({ keywords }) => [...keywords] }),
    category: t.exposeString('category', { nullable: true, description: `${CATEGORY} Null when not stated.` }),
    domain: t.exposeString('domain', { nullable: true, description: `${DOMAIN} Null when not stated.` }),
    namespace: t.exposeString('namespace', { nullable: true, description: `${NAMESPACE} Null when not stated.` }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the marketplace lists it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was registered first.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

const FilterType = builder.inputType('PluginFilter', {
  description: 'Filter of plugins. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
    category: t.string({ description: 'Exact category.' }),
    enabled: t.boolean({ description: 'Whether the marketplace lists the plugin.' }),
  }),
});

const OrderType = rowOrder(TYPE, 'plugins', { NAME: { value: 'name', description: 'Name.' } });

builder.queryField('plugins', (t) =>
  t.connection(
    {
      type: PluginType,
      description:
        'Plugins of Claude Code, newest first by default. For proxy administrators with full or read-only access. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All plugins when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = readOrderedPage<'name'>(args, args.orderBy);
        const conditions = {
          name: null,
          nameContains: nullIfBlank(filter?.name),
          category: nullIfBlank(filter?.category),
          enabled: filter?.enabled ?? null,
        };
        return rowConnection(await listPlugins(scope, { filter: conditions, page }), page, (row) =>
          page.sort === 'created_at' ? row : { text: row.name, id: row.id },
        );
      },
    },
    { ...pageType(TYPE, 'plugins'), fields: (pageFields) => totalCount(pageFields, 'plugins') },
    edgeType(TYPE, 'plugin'),
  ),
);

builder.queryField('plugin', (t) =>
  t.field({
    type: PluginType,
    nullable: true,
    description:
      'A plugin by its name. Null when there is none. For proxy administrators with full or read-only access.',
    args: { name: t.arg.string({ required: true, description: NAME }) },
    resolve: (_root, { name }, { scope }) =>
      getPlugin(scope, { name }).catch((error: unknown) => {
        if (error instanceof NotFound) return null;
        throw error;
      }),
  }),
);

const SourceInput = builder.inputType('PluginSourceInput', {
  description: 'Where clients get a plugin. Everyone can read it: it must have no secret.',
  fields: (t) => ({
    kind: t.field({ type: SourceKindType, required: true, description: 'Kind of the source.' }),
    repo: t.string({ description: `${REPO} For \`GITHUB\`.` }),
    url: t.string({ description: `${URL_TEXT} It begins with \`https://\`. For \`URL\` and \`GIT_SUBDIR\`.` }),
    path: t.string({ description: `${PATH} For \`GIT_SUBDIR\`.` }),
    ref: t.string({ description: `${REF} The default branch when absent.` }),
    sha: t.string({ description: `${SHA} The latest one when absent.` }),
  }),
});

const AuthorInput = builder.inputType('PluginAuthorInput', {
  description: 'Author of a plugin.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the author.' }),
    email: t.string({ description: 'Email address.' }),
  }),
});

const RegisterInput = builder.inputType('RegisterPluginInput', {
  description: 'A plugin. It replaces the plugin with its name: absent members are removed.',
  fields: (t) => ({
    name: t.string({ required: true, description: `${NAME} At most 64 characters.` }),
    source: t.field({ type: SourceInput, required: true, description: 'Where clients get it.' }),
    version: t.string({ description: VERSION }),
    description: t.string({ description: `${DESCRIPTION} At most 4,000 characters.` }),
    author: t.field({ type: AuthorInput, description: 'Its author.' }),
    homepage: t.string({ description: HOMEPAGE }),
    keywords: t.stringList({ description: 'Words for searches, at most 50.' }),
    category: t.string({ description: CATEGORY }),
    domain: t.string({ description: DOMAIN }),
    namespace: t.string({ description: NAMESPACE }),
  }),
});

const inputOf = (action: 'Enable' | 'Disable' | 'Delete') =>
  builder.inputType(`${action}PluginInput`, {
    description: `The plugin to ${action.toLowerCase()}.`,
    fields: (t) => ({ name: t.string({ required: true, description: NAME }) }),
  });
const [EnableInput, DisableInput, DeleteInput] = [inputOf('Enable'), inputOf('Disable'), inputOf('Delete')];

function draftOf({ name, source, author, keywords, ...texts }: typeof RegisterInput.$inferInput) {
  const { kind, repo, url, path, ref, sha } = source;
  return {
    name,
    source: {
      source: kind,
      repo: repo ?? null,
      url: url ?? null,
      path: path ?? null,
      ref: ref ?? null,
      sha: sha ?? null,
    },
    version: texts.version ?? null,
    description: texts.description ?? null,
    author: author ? { name: author.name, email: author.email ?? null } : null,
    homepage: texts.homepage ?? null,
    keywords: keywords ?? [],
    category: texts.category ?? null,
    domain: texts.domain ?? null,
    namespace: texts.namespace ?? null,
  };
}

builder.mutationFields((t) => ({
  registerPlugin: t.field({
    type: PluginType,
    description: `Registers a plugin, or replaces the one with its name. A disabled plugin stays disabled. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: RegisterInput, required: true, description: 'The plugin.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'RegisterPluginResult', description: 'The plugin, or why it was not registered.' },
    },
    resolve: async (_root, { input }, { scope }) => (await registerPlugin(scope, draftOf(input))).plugin,
  }),
  enablePlugin: t.field({
    type: PluginType,
    description: `Lists a plugin in the marketplace. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: EnableInput, required: true, description: 'The plugin.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'EnablePluginResult', description: 'The plugin, or why it was not enabled.' },
    },
    resolve: (_root, { input: { name } }, { scope }) => switchPlugin(scope, { name, enabled: true }),
  }),
  disablePlugin: t.field({
    type: PluginType,
    description: `Removes a plugin from the marketplace, but keeps it. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DisableInput, required: true, description: 'The plugin.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DisablePluginResult', description: 'The plugin, or why it was not disabled.' },
    },
    resolve: (_root, { input: { name } }, { scope }) => switchPlugin(scope, { name, enabled: false }),
  }),
  deletePlugin: t.field({
    type: PluginType,
    description: `Removes a plugin. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The plugin.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeletePluginResult', description: 'The removed plugin, or why it was not removed.' },
    },
    resolve: (_root, { input: { name } }, { scope }) => deletePlugin(scope, { name }),
  }),
}));
