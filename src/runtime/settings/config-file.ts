import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { z } from 'zod';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { BudgetToldAs } from '../../domain/errors.ts';
import { rateFrom } from '../../domain/money.ts';
import { Secret } from '../../domain/secret.ts';
import type { FileLimits } from '../../domain/upstream-objects/file-limits.ts';
import { type BillingSection, billingSection } from './billing.ts';
import { type CallerSection, callerFields, callerSharedFields } from './callers-section.ts';
import { proxyFault } from '../network/client-network.ts';
import { type Path, resolveReferences } from './config-references.ts';
import { withIds } from './deployment-ids.ts';
import { addressFault, modelEntry, toDeployment } from './deployments.ts';
import { UPSTREAM_SECTION, type UpstreamSection } from './upstream-section.ts';

/** One thing wrong with the configuration, and where. */
export interface ConfigFault {
  /** File or environment variable it stands in. */
  readonly source: string;
  /** 1-based line, when it stands in a file. */
  readonly line: number | null;
  /** Dotted path of the setting, e.g. `model_list.0.litellm_params.model`. */
  readonly key: string;
  readonly message: string;
}

/** The configuration cannot be used; all faults at once. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];
  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(faultText).join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

const faultText = ({ source, line, key, message }: ConfigFault): string =>
  `${source}${line === null ? '' : `:${line}`}: ${key === '' ? '' : `${key}: `}${message}`;

/** Most calls a day that a limit can say: every interface can write it as a number. */
export const MOST_DAILY_CALLS = 1_000_000_000;

/** More connections than one process can hold. */
export const MOST_CONNECTIONS = 1_000_000;

/** Longer than any connection lives. */
const MOST_HEARTBEAT_SECONDS = 86_400;

/** A day: longer than anybody waits for an answer, or for a look at what has become of something. */
const MOST_WAIT_SECONDS = 86_400;

/** As the reference asks. */
const PROBE_SECONDS = 300;

const proxy = z.string().superRefine((text, context) => {
  const message = proxyFault(text);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

/** Most days that something can be kept by name; longer is for ever. */
export const MOST_RETENTION_DAYS = 36_500;

/** The name of a store, or what is to be said of it: `clickhouse`, or whatever else for the database. */
const traceStore = z.union([
  z.string(),
  z.looseObject({
    type: z.string().optional(),
    url: z.string().optional(),
    database: z.string().optional(),
    retention_days: z.int().min(0).max(MOST_RETENTION_DAYS).optional(),
  }),
]);

/** What the file says of where traces are kept; null where it is silent. */
export interface TraceStoreSection {
  readonly type: string | null;
  readonly url: string | null;
  readonly database: string | null;
}

/** What the file may say. Keys we do not know are left alone: one file serves several programs. */
const generalSettings = z.looseObject({
  master_key: z.string().optional(),
  database_url: z.string().optional(),
  max_request_size_mb: z.number().positive().optional(),
  stream_heartbeat_seconds: z.number().min(0).max(MOST_HEARTBEAT_SECONDS).optional(),
  ...UPSTREAM_SECTION,
  max_file_size_mb: z.number().positive().optional(),
  max_batch_file_size_mb: z.number().positive().optional(),
  store_prompts_in_spend_logs: z.boolean().optional(),
  litellm_key_header_name: z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is not the name of a header')
    .transform((name) => name.toLowerCase())
    .optional(),
  always_include_stream_usage: z.boolean().optional(),
  ...callerFields,
  enforce_fallback_budget: z.boolean().optional(),
  disable_responses_id_security: z.boolean().optional(),
  proxy_batch_polling_interval: z.number().min(0).max(MOST_WAIT_SECONDS).optional(),
  background_health_checks: z.boolean().optional(),
  health_check_interval: z.number().positive().max(MOST_WAIT_SECONDS).optional(),
  health_check_details: z.boolean().optional(),
  store_responses: z.boolean().optional(),
  response_retention_days: z.int().min(0).max(MOST_RETENTION_DAYS).optional(),
  catalog_daily_limit: z.int().min(0).max(MOST_DAILY_CALLS).optional(),
  trusted_proxies: z.array(proxy).optional(),
  max_connections: z.int().min(0).max(MOST_CONNECTIONS).optional(),
  tracing: z.looseObject({ store: traceStore.optional() }).optional(),
  demo_model: z.boolean().optional(),
  graphql_introspection: z.boolean().optional(),
  graphiql: z.boolean().optional(),
  proxy_base_url: z.string().optional(),
  otlp_endpoint: z.string().optional(),
  otlp_headers: z.record(z.string(), z.string()).optional(),
  otlp_protocol: z.string().optional(),
});

/** What the reference names by its statuses. */
const BUDGET_FORMS: ReadonlyMap<number | null, BudgetToldAs> = new Map([
  [422, 'unprocessable'],
  [429, 'rate'],
  [400, 'bad_request'],
]);

const litellmSettings = z.looseObject({
  drop_params: z.boolean().optional(),
  budget_exceeded_status_code: z.literal([422, 429, 400]).optional(),
  expose_router_debug_in_errors: z.boolean().optional(),
  ...callerSharedFields,
  /** Read for `otel` alone; who else is called is not ours. */
  callbacks: z.unknown().optional(),
});

const configFile = z.looseObject({
  model_list: z.array(modelEntry).nullish(),
  litellm_settings: litellmSettings.nullish(),
  general_settings: generalSettings.nullish(),
  billing_settings: billingSection.nullish(),
});

/** Where the file has our own spans sent; null where it is silent. */
export interface OtlpExportSection {
  readonly endpoint: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly protocol: string | null;
  /** Whether `litellm_settings.callbacks` names `otel`. */
  readonly called: boolean;
}

/** What the process takes from its config file; null where the file is silent. */
export interface FileSettings {
  readonly deployments: readonly Deployment[];
  readonly masterKey: Secret | null;
  readonly databaseUrl: string | null;
  readonly maxRequestBytes: number | null;
  readonly streamHeartbeatSeconds: number | null;
  readonly upstream: UpstreamSection;
  readonly fileLimits: FileLimits;
  readonly catalogDailyLimit: number | null;
  readonly trustedProxies: readonly string[] | null;
  readonly maxConnections: number | null;
  readonly retentionDays: number | null;
  readonly traceStore: TraceStoreSection;
  readonly capturePrompts: boolean | null;
  readonly alwaysStreamUsage: boolean | null;
  readonly budgetToldAs: BudgetToldAs | null;
  readonly keyHeader: string | null;
  readonly callers: CallerSection;
  readonly routerDebugInErrors: boolean | null;
  readonly enforceFallbackBudget: boolean | null;
  readonly responseIdSecurity: boolean | null;
  readonly batchPollingSeconds: number | null;
  readonly healthChecks: { readonly everySeconds: number; readonly details: boolean };
  readonly storeResponses: boolean | null;
  readonly responseRetentionDays: number | null;
  readonly demoModel: boolean | null;
  readonly introspection: boolean | null;
  readonly graphiql: boolean | null;
  readonly publicUrl: string | null;
  readonly billing: BillingSection | null;
  readonly otlpExport: OtlpExportSection;
}

const MEGABYTE = 1024 * 1024;
const megabytes = (count: number | undefined): number | null =>
  count === undefined ? null : Math.floor(count * MEGABYTE);

/** Reads and checks the whole file. Throws ConfigError with every fault, each with its line. */
export function readConfigFile(file: string, env: NodeJS.ProcessEnv): FileSettings {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines, prettyErrors: false });
  const lineOf = (path: Path): number => lines.linePos(offsetOf(document, path)).line;
  const syntax = document.errors.map((error) => ({
    source: file,
    line: lines.linePos(error.pos[0]).line,
    key: '',
    message: error.message,
  }));
  if (syntax.length > 0) throw new ConfigError(syntax);

  const faults: ConfigFault[] = [];
  const resolved = resolveReferences(valueOf(document, file), [], (path, name) => {
    const value = env[name];
    if ((value === undefined || value === '') && isOurs(path)) {
      const message = `the environment variable ${name} it refers to is not set`;
      faults.push({ source: file, line: lineOf(path), key: path.join('.'), message });
    }
    return value ?? '';
  });
  const parsed = configFile.safeParse(resolved);
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.map((part) => (typeof part === 'symbol' ? part.toString() : part));
    const key = path.join('.');
    // What a reference to nothing leaves behind is told once.
    if (faults.some((fault) => fault.key === key)) continue;
    faults.push({ source: file, line: lineOf(path), key, message: issue.message });
  }
  if (!parsed.success) throw new ConfigError(faults);
  const {
    model_list: models,
    general_settings: general,
    litellm_settings: shared,
    billing_settings: billing,
  } = parsed.data;
  const dropParams = shared?.drop_params ?? false;
  const deployments = withIds((models ?? []).map((entry) => toDeployment(entry, { dropParams, env })));
  for (const [index, { provider, apiBase, priceOverrides }] of deployments.entries()) {
    for (const [name, price] of Object.entries(priceOverrides)) {
      if (isPrice(price)) continue;
      const path = ['model_list', index, 'litellm_params', name];
      faults.push({ source: file, line: lineOf(path), key: path.join('.'), message: 'is not a price in USD' });
    }
    const fault = addressFault(provider, apiBase);
    if (fault === null) continue;
    const path = ['model_list', index, 'litellm_params', 'model'];
    faults.push({ source: file, line: lineOf(path), key: path.join('.'), message: fault });
  }
  if (faults.length > 0) throw new ConfigError(faults);

  return {
    deployments,
    masterKey: general?.master_key === undefined ? null : new Secret(general.master_key),
    databaseUrl: general?.database_url ?? null,
    maxRequestBytes: megabytes(general?.max_request_size_mb),
    streamHeartbeatSeconds: general?.stream_heartbeat_seconds ?? null,
    upstream: general ?? {},
    fileLimits: { file: megabytes(general?.max_file_size_mb), batchFile: megabytes(general?.max_batch_file_size_mb) },
    catalogDailyLimit: general?.catalog_daily_limit ?? null,
    retentionDays: retentionIn(general?.tracing?.store),
    traceStore: traceStoreIn(general?.tracing?.store),
    trustedProxies: general?.trusted_proxies ?? null,
    maxConnections: general?.max_connections ?? null,
    capturePrompts: general?.store_prompts_in_spend_logs ?? null,
    budgetToldAs: BUDGET_FORMS.get(shared?.budget_exceeded_status_code ?? null) ?? null,
    alwaysStreamUsage: general?.always_include_stream_usage ?? null,
    keyHeader: general?.litellm_key_header_name ?? null,
    callers: { general: general ?? undefined, shared: shared ?? undefined },
    routerDebugInErrors: shared?.expose_router_debug_in_errors ?? null,
    enforceFallbackBudget: general?.enforce_fallback_budget ?? null,
    responseIdSecurity:
      general?.disable_responses_id_security === undefined ? null : !general.disable_responses_id_security,
    batchPollingSeconds: general?.proxy_batch_polling_interval ?? null,
    healthChecks: {
      everySeconds: general?.background_health_checks === true ? (general.health_check_interval ?? PROBE_SECONDS) : 0,
      details: general?.health_check_details ?? true,
    },
    storeResponses: general?.store_responses ?? null,
    responseRetentionDays: general?.response_retention_days ?? null,
    demoModel: general?.demo_model ?? null,
    introspection: general?.graphql_introspection ?? null,
    graphiql: general?.graphiql ?? null,
    publicUrl: general?.proxy_base_url ?? null,
    billing: billing ?? null,
    otlpExport: {
      endpoint: general?.otlp_endpoint ?? null,
      headers: general?.otlp_headers ?? null,
      protocol: general?.otlp_protocol ?? null,
      called: [shared?.callbacks].flat().includes('otel'),
    },
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new ConfigError([{ source: file, line: null, key: '', message: `cannot be read (${code})` }]);
  }
}

/** What the text means. Throws ConfigError for aliases that name nothing, or so many that they are an attack. */
function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ source: file, line: null, key: '', message }]);
  }
}

/** Whether a setting is one we read; what other programs refer to may be set for them alone. */
const isOurs = ([section, name]: Path): boolean =>
  section === 'model_list' ||
  (section === 'general_settings' && Object.hasOwn(generalSettings.shape, name ?? '')) ||
  (section === 'litellm_settings' && Object.hasOwn(litellmSettings.shape, name ?? ''));

/** Lists of tiers are not looked into. */
const isPrice = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'string' ? (rateFrom(value) ?? -1n) >= 0n : true;

/** Where a setting stands in the text; the nearest enclosing one when it is missing. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range))
      return Number(node.range[0]);
  }
  return 0;
}

const retentionIn = (store: z.infer<typeof traceStore> | undefined): number | null =>
  typeof store === 'object' ? (store.retention_days ?? null) : null;

function traceStoreIn(store: z.infer<typeof traceStore> | undefined): TraceStoreSection {
  const { type, url, database } = typeof store === 'object' ? store : { type: store };
  return { type: type ?? null, url: url ?? null, database: database ?? null };
}
