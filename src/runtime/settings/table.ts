import type { SettingGroup, ValueOf } from './setting.ts';
import { BILLING_SETTINGS, CATALOG_SETTINGS } from './table/catalog.ts';
import { GATEWAY_SETTINGS, HEALTH_SETTINGS, UPSTREAM_SETTINGS } from './table/gateway.ts';
import { MANAGEMENT_SETTINGS } from './table/management.ts';
import { PASS_THROUGH_SETTINGS } from './table/pass-through.ts';
import { ROUTING_SETTINGS } from './table/routing.ts';
import { KEY_SETTINGS } from './table/keys.ts';
import { LENS_SETTINGS } from './table/lens.ts';
import { MCP_SETTINGS } from './table/mcp.ts';
import { RESPONSE_CACHE_SETTINGS } from './table/response-cache.ts';
import { SERVER_SETTINGS, STORAGE_SETTINGS } from './table/server.ts';
import { SHARING_SETTINGS } from './table/sharing.ts';
import { TOKEN_SETTINGS } from './table/tokens.ts';
import { SIGN_IN_SETTINGS } from './table/sign-in.ts';
import { EXPORT_SETTINGS, OTLP_SETTINGS, TRACE_STORE_SETTINGS } from './table/traces.ts';

/** Every setting: reading, validation, `--help` and docs/configuration.md use this table. */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...SIGN_IN_SETTINGS,
  ...TOKEN_SETTINGS,
  ...STORAGE_SETTINGS,
  ...GATEWAY_SETTINGS,
  ...SHARING_SETTINGS,
  ...RESPONSE_CACHE_SETTINGS,
  ...MANAGEMENT_SETTINGS,
  ...KEY_SETTINGS,
  ...PASS_THROUGH_SETTINGS,
  ...MCP_SETTINGS,
  ...ROUTING_SETTINGS,
  ...HEALTH_SETTINGS,
  ...UPSTREAM_SETTINGS,
  ...TRACE_STORE_SETTINGS,
  ...OTLP_SETTINGS,
  ...EXPORT_SETTINGS,
  ...LENS_SETTINGS,
  ...CATALOG_SETTINGS,
  ...BILLING_SETTINGS,
} as const;

export type SettingName = keyof typeof SETTINGS;

/** The value of every setting. */
export type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };

/** The rows in the order of help and documentation. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  { title: 'Server and access', settings: SERVER_SETTINGS },
  { title: 'Sign-in', settings: SIGN_IN_SETTINGS },
  {
    title: 'Signed tokens of other issuers',
    note: 'See [tokens.md](tokens.md).',
    settings: TOKEN_SETTINGS,
  },
  { title: 'Database', settings: STORAGE_SETTINGS },
  { title: 'Model calls', settings: GATEWAY_SETTINGS },
  {
    title: 'Limits of several processes',
    note: 'Budgets, limits per minute and of parallel calls are counted together (ADR 0062).',
    settings: SHARING_SETTINGS,
  },
  {
    title: 'Cache of answers',
    note: 'See [cache.md](cache.md). A change applies without a restart. The server is that of `cache_params` above.',
    settings: RESPONSE_CACHE_SETTINGS,
  },
  {
    title: 'Users and teams, prices and budgets, public pages',
    note: 'They can also be stored at run time. The file takes precedence over stored values.',
    settings: MANAGEMENT_SETTINGS,
  },
  { title: 'Rules for creating and changing keys', settings: KEY_SETTINGS },
  { title: 'Pass-through', settings: PASS_THROUGH_SETTINGS },
  { title: 'MCP servers', settings: MCP_SETTINGS },
  {
    title: 'Selection of deployments, retries, cooldowns and fallbacks',
    note: 'See [routing.md](routing.md). They can also be stored at run time, and then apply to the next call. The file takes precedence over stored values. For a model with a fallback of `/fallback`, that fallback takes precedence over stored lists.',
    settings: ROUTING_SETTINGS,
  },
  { title: 'Health checks', settings: HEALTH_SETTINGS },
  { title: 'Upstream connections', settings: UPSTREAM_SETTINGS },
  { title: 'Trace storage', settings: TRACE_STORE_SETTINGS },
  {
    title: 'Limits of exports to /v1/traces',
    note: 'An export beyond a limit is refused as a whole, with 413 unless its row says otherwise.',
    settings: OTLP_SETTINGS,
  },
  {
    title: 'Export of spans to a collector',
    note: 'Calls are exported, and each run of a duty as a trace `duty:<name>` with its outcome. Prompts are exported only where they are stored. While the collector is unreachable, up to 4,096 spans or 32 MiB are queued; further spans are dropped and counted at `/metrics`.',
    settings: EXPORT_SETTINGS,
  },
  { title: 'Lenses', settings: LENS_SETTINGS },
  { title: 'Catalog', settings: CATALOG_SETTINGS },
  {
    title: 'Sale of access to the catalog',
    note: 'See [selling-access.md](selling-access.md).',
    settings: BILLING_SETTINGS,
  },
];
