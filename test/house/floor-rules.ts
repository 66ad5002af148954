/** Who may import whom: the table of ARCHITECTURE.md as dependency-cruiser rules. Type-only imports count. */
import type { IForbiddenRuleType } from 'dependency-cruiser';

interface Floor {
  /** The sentence a reader is shown when the floor is broken. */
  readonly rule: string;
  readonly from: string;
  /** Other floors it may see, as path patterns; it may always see itself. */
  readonly floors: readonly string[];
  /** Libraries it may use; `node:*` stands for everything Node brings. */
  readonly libraries: readonly string[];
}

const DOMAIN = '^src/domain/';
const WIRE = '^src/wire/';
const GATEWAY = '^src/gateway/';
const RESOLVERS = '^resolvers/';

const FLOORS: Readonly<Record<string, Floor>> = {
  domain: { rule: 'The ground imports nothing.', from: DOMAIN, floors: [], libraries: [] },
  wire: { rule: 'Foreign formats see the domain only.', from: WIRE, floors: [DOMAIN], libraries: [] },
  gateway: { rule: 'The engine is pure over the ports of the domain.', from: GATEWAY, floors: [DOMAIN], libraries: [] },
  persistence: {
    rule: 'The database room sees the domain and is the only one that knows the ORM, and ClickHouse.',
    from: '^src/persistence/',
    floors: [DOMAIN],
    libraries: ['@clickhouse/client', '@mikro-orm/[^/]+', 'kysely', 'sqlite3', 'node:*'],
  },
  providers: {
    rule: 'Providers see the domain and the formats; the HTTP client is passed in, Stripe brings its own, AWS is signed for.',
    from: '^src/providers/',
    floors: [DOMAIN, WIRE],
    libraries: ['aws4fetch', 'stripe'],
  },
  runtime: {
    rule: 'The runtime room sees the domain, small libraries, undici, and those of clouds that say who the machine is.',
    from: '^src/runtime/',
    floors: [DOMAIN],
    libraries: [
      '@aws-sdk/credential-providers',
      'google-auth-library',
      'ipaddr.js',
      'pino',
      'prom-client',
      're2js',
      'undici',
      'ws',
      'yaml',
      'zod',
      'node:*',
    ],
  },
  resolvers: {
    rule: 'Operations see the domain and the engine, never a transport or an adapter.',
    from: RESOLVERS,
    floors: [DOMAIN, GATEWAY],
    libraries: ['dataloader'],
  },
  schema: {
    rule: 'The graph speaks to operations, never to adapters or to the other door.',
    from: '^schema/',
    floors: [DOMAIN, RESOLVERS],
    libraries: ['@pothos/[^/]+', 'graphql', 'graphql-scalars'],
  },
  'rest-shims': {
    rule: 'HTTP speaks to operations and formats, never to adapters or to the other door.',
    from: '^rest-shims/',
    floors: [DOMAIN, WIRE, RESOLVERS],
    libraries: ['koa', 'find-my-way', 'zod', 'node:*'],
  },
  codegen: {
    rule: 'Code generation sees the graph and nothing behind it.',
    from: '^codegen\\.ts$',
    floors: ['^schema/'],
    libraries: ['@graphql-codegen/[^/]+', 'graphql', 'node:*'],
  },
};

/** Core modules come without their `node:` prefix and without a slash that a path of ours would have. */
const CORE_MODULES = '^(node:)?[a-z_]+(/(promises|posix|web|consumers))?$';

const libraryPath = (name: string): string =>
  name === 'node:*' ? CORE_MODULES : `(^|/)node_modules/(@types/)?${name}/`;

const floorRules: IForbiddenRuleType[] = Object.entries(FLOORS).map(([name, { rule, from, floors, libraries }]) => ({
  name,
  comment: rule,
  severity: 'error',
  from: { path: from },
  to: { pathNot: [from, ...floors, ...libraries.map(libraryPath)] },
}));

/** Rules that are about one thing rather than one floor. */
const singleRules: IForbiddenRuleType[] = [
  {
    name: 'no-circular',
    comment: 'Files that import each other in a circle cannot be read in any order.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'roof-is-unseen',
    comment: 'Files directly in src/ may look at everything; nobody looks at them.',
    severity: 'error',
    from: { pathNot: ['^src/[^/]+\\.ts$', '^test/'] },
    to: { path: '^src/[^/]+\\.ts$' },
  },
  {
    name: 'dataloader-in-loaders',
    comment: 'Batching lives in resolvers/operation/loaders.ts alone.',
    severity: 'error',
    from: { pathNot: '^resolvers/loaders\\.ts$' },
    to: { path: '(^|/)node_modules/dataloader/' },
  },
  {
    name: 'orm-in-one-room',
    comment: 'Only src/persistence knows MikroORM, Kysely and SQLite; one script writes its migrations.',
    severity: 'error',
    from: { pathNot: ['^src/persistence/', '^scripts/create-migration\\.ts$'] },
    to: { path: '(^|/)node_modules/(@mikro-orm/[^/]+|kysely|sqlite3)/' },
  },
  {
    name: 'stripe-in-one-room',
    comment: 'Only src/providers/stripe knows the SDK of the payment provider.',
    severity: 'error',
    from: { pathNot: ['^src/providers/stripe/', '^test/'] },
    to: { path: '(^|/)node_modules/stripe/' },
  },
  {
    name: 'engine-types-only',
    comment: 'Operations know the engine by its types; the roof hands them the running one.',
    severity: 'error',
    from: { path: RESOLVERS },
    to: { path: GATEWAY, dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'tests-are-unseen',
    comment: 'The product never imports a test.',
    severity: 'error',
    from: { pathNot: '^test/' },
    to: { path: '^test/' },
  },
  {
    name: 'no-unresolved',
    comment: 'An import that leads nowhere cannot be judged.',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true },
  },
];

/** Every rule of the house, for dependency-cruiser's `forbidden`. */
export const rules: readonly IForbiddenRuleType[] = [...floorRules, ...singleRules];
