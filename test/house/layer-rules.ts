/** Allowed imports between layers. Type-only imports count. See ARCHITECTURE.md. */
import type { ImportRule } from './imports.ts';

interface Layer {
  /** Meaning of the rule, for readers. */
  readonly rule: string;
  /** Path pattern of the layer's files. They may import each other. */
  readonly from: string;
  /** Path patterns of the other layers that the layer may import. */
  readonly layers: readonly string[];
  /** Libraries that the layer may import. `node:*` allows every module of Node. */
  readonly libraries: readonly string[];
}

const DOMAIN = '^src/domain/';
const WIRE = '^src/wire/';
const GATEWAY = '^src/gateway/';
const RUNTIME = '^src/runtime/';
const RESOLVERS = '^resolvers/';
const SCHEMA = '^schema/';
const REST_SHIMS = '^rest-shims/';
const GRAPHQL = '^src/graphql/';

const LAYERS: Readonly<Record<string, Layer>> = {
  domain: { rule: 'The domain imports no other layer and no library.', from: DOMAIN, layers: [], libraries: [] },
  wire: { rule: 'Wire formats import the domain only.', from: WIRE, layers: [DOMAIN], libraries: [] },
  gateway: {
    rule: 'The gateway imports the domain only: adapters reach it through ports.',
    from: GATEWAY,
    layers: [DOMAIN],
    libraries: [],
  },
  persistence: {
    rule: 'Persistence imports the domain, and is the only layer that imports the ORM and the ClickHouse client.',
    from: '^src/persistence/',
    layers: [DOMAIN],
    libraries: ['@clickhouse/client', '@mikro-orm/[^/]+', 'kysely', 'sqlite3', 'node:*'],
  },
  providers: {
    rule: 'Provider adapters import the domain and the wire formats. The HTTP client is a parameter.',
    from: '^src/providers/',
    layers: [DOMAIN, WIRE],
    libraries: ['aws4fetch', 're2js', 'stripe'],
  },
  runtime: {
    rule: 'The runtime imports the domain, Node and small libraries.',
    from: RUNTIME,
    layers: [DOMAIN],
    libraries: [
      '@aws-sdk/credential-providers',
      '@modelcontextprotocol/client',
      'google-auth-library',
      'ioredis',
      'ipaddr.js',
      'jose',
      'pino',
      'piscina',
      'prom-client',
      're2js',
      'ws',
      'yaml',
      'undici',
      'zod',
      'node:*',
    ],
  },
  resolvers: {
    rule: 'Operations import the domain and types of the gateway, never a transport or an adapter.',
    from: RESOLVERS,
    layers: [DOMAIN, GATEWAY],
    libraries: ['dataloader'],
  },
  schema: {
    rule: 'The graph imports operations, never an adapter or the REST transport.',
    from: SCHEMA,
    layers: [DOMAIN, RESOLVERS],
    libraries: ['@pothos/[^/]+', 'graphql', 'graphql-scalars'],
  },
  'rest-shims': {
    rule: 'The REST transport imports operations and wire formats, never an adapter or the graph.',
    from: REST_SHIMS,
    layers: [DOMAIN, WIRE, RESOLVERS],
    libraries: ['@koa/router', 'koa', 'zod', 'node:*'],
  },
  graphql: {
    rule: 'The GraphQL server imports the graph, operations, the runtime and the REST transport, never an adapter of a store.',
    from: GRAPHQL,
    layers: [DOMAIN, RUNTIME, RESOLVERS, SCHEMA, REST_SHIMS],
    libraries: ['@graphql-yoga/render-graphiql', 'graphql', 'graphql-sse', 'graphql-ws', 'graphql-yoga', 'node:*'],
  },
  http: {
    rule: 'The HTTP server imports the REST transport, the GraphQL server, operations, the gateway and the runtime, never the database or a provider.',
    from: '^src/http/',
    layers: [DOMAIN, GATEWAY, RUNTIME, RESOLVERS, REST_SHIMS, GRAPHQL],
    libraries: ['koa', 'rolldown', 'node:*'],
  },
  dashboard: {
    rule: 'The dashboard is a client of the graph: browser code that imports nothing of the server.',
    from: '^src/dashboard/',
    layers: [],
    libraries: ['@graphql-typed-document-node/core', 'graphql-sse', 'preact'],
  },
  ingest: {
    rule: 'Ingest turns exports into rows: it imports the domain, the wire formats and the thread pool.',
    from: '^src/ingest/',
    layers: [DOMAIN, WIRE, RUNTIME],
    libraries: ['node:*'],
  },
  recording: {
    rule: 'Call recording imports the gateway, the wire formats and the runtime; stores are parameters.',
    from: '^src/recording/',
    layers: [DOMAIN, GATEWAY, RUNTIME, WIRE],
    libraries: ['node:*'],
  },
  startup: {
    rule: 'The steps of the start connect the layers. They import no wire format, and not the graph, which the GraphQL server loads.',
    from: '^src/startup/',
    layers: [
      DOMAIN,
      GATEWAY,
      RUNTIME,
      RESOLVERS,
      REST_SHIMS,
      GRAPHQL,
      '^src/(http|ingest|persistence|providers|recording)/',
    ],
    libraries: ['koa', 'node:*'],
  },
  lite: {
    rule: 'The command `lite` is a client of the server: it imports Node, the YAML parser and the type of JSON objects only.',
    from: '^lite/',
    layers: ['^src/domain/json-object\\.ts$'],
    libraries: ['yaml', 'node:*'],
  },
  codegen: {
    rule: 'Code generation imports the graph only.',
    from: '^codegen\\.ts$',
    layers: [SCHEMA],
    libraries: ['@graphql-codegen/[^/]+', 'graphql', 'node:*'],
  },
};

const CORE_MODULES = '^node:';

const libraryPath = (name: string): string =>
  name === 'node:*' ? CORE_MODULES : `(^|/)node_modules/(@types/)?${name}/`;

const layerRules: readonly ImportRule[] = Object.entries(LAYERS).map(([name, { rule, from, layers, libraries }]) => ({
  name,
  comment: rule,
  from: { path: from },
  to: { pathNot: [from, ...layers, ...libraries.map(libraryPath)] },
}));

/** Rules that are not about one layer. */
const singleRules: readonly ImportRule[] = [
  {
    name: 'no-circular',
    comment: 'Circular imports are not allowed.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'composition-root-is-not-imported',
    comment:
      'Files directly in src/ and in src/startup/ connect the layers; no other file of the product imports them.',
    from: { pathNot: ['^src/[^/]+\\.ts$', '^src/startup/', '^test/'] },
    to: { path: ['^src/[^/]+\\.ts$', '^src/startup/'] },
  },
  {
    name: 'command-is-not-imported',
    comment: 'The server and its scripts never import the command `lite`.',
    from: { pathNot: ['^lite/', '^test/'] },
    to: { path: '^lite/' },
  },
  {
    name: 'dataloader-in-loaders',
    comment: 'Only the loaders of resolvers/operation import dataloader.',
    from: { pathNot: '^resolvers/operation/(owner-)?loaders\\.ts$' },
    to: { path: '(^|/)node_modules/dataloader/' },
  },
  {
    name: 'orm-in-persistence',
    comment: 'Only src/persistence and the migration script import MikroORM, Kysely and sqlite3.',
    from: { pathNot: ['^src/persistence/', '^scripts/create-migration\\.ts$'] },
    to: { path: '(^|/)node_modules/(@mikro-orm/[^/]+|kysely|sqlite3)/' },
  },
  {
    name: 'stripe-in-its-adapter',
    comment: 'Only src/providers/stripe imports the Stripe SDK.',
    from: { pathNot: ['^src/providers/stripe/', '^test/'] },
    to: { path: '(^|/)node_modules/stripe/' },
  },
  {
    name: 'gateway-types-only',
    comment: 'Operations import types of the gateway; the composition root passes the instance.',
    from: { path: RESOLVERS },
    to: { path: GATEWAY, value: true },
  },
  {
    name: 'gateway-parts-below-calls',
    comment: 'Keys, routing, admission and accounting do not import calls or sessions, which import them.',
    from: { path: '^src/gateway/(accounting|admission|keys|routing)/' },
    to: { path: '^src/gateway/((calls|sessions)/|create-gateway)' },
  },
  {
    name: 'rest-shims-helpers-below-routes',
    comment: 'Helpers of the REST transport import no routes.',
    from: { path: '^rest-shims/helpers/' },
    to: { path: '^rest-shims/[^/]+\\.ts$', pathNot: '^rest-shims/errors\\.ts$' },
  },
  {
    name: 'rest-shims-nouns-apart',
    comment: 'Routes of one noun do not import those of another: what they share is a helper.',
    from: { path: '^rest-shims/[^/]+\\.ts$' },
    to: { path: '^rest-shims/[^/]+\\.ts$', pathNot: '^rest-shims/errors\\.ts$' },
  },
  {
    name: 'operation-helpers-below-operations',
    comment: 'Helpers of operations import no operation.',
    from: { path: '^resolvers/operation/' },
    to: { path: '^resolvers/[^/]+\\.ts$' },
  },
  {
    name: 'schema-base-below-nouns',
    comment: 'Helpers of the graph import no noun of the graph.',
    from: { path: '^schema/base/' },
    to: { path: '^schema/[^/]+\\.ts$' },
  },
  {
    name: 'tests-are-unseen',
    comment: 'Product code never imports a test.',
    from: { pathNot: '^test/' },
    to: { path: '^test/' },
  },
  {
    name: 'no-unresolved',
    comment: 'Every import resolves.',
    from: {},
    to: { unresolved: true },
  },
];

export const rules: readonly ImportRule[] = [...layerRules, ...singleRules];
