import type { KeyRules } from '../../domain/keys/generation-rules.ts';
import { keyRulesOf } from './key-rules.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { DeclaredCredential } from '../../domain/credentials/credential.ts';
import type { StorageLevel } from '../../domain/decisions/stored-decision.ts';
import type { DeploymentReader } from '../../domain/deployments/deployment-source.ts';
import type { BudgetErrorKind } from '../../domain/errors.ts';
import type { KeyGenerator } from '../../domain/keys/virtual-key.ts';
import { type Usd, usdFrom } from '../../domain/money.ts';
import type { GuardrailDefinition } from '../../domain/guardrails/definition.ts';
import type { ParamReader } from '../../domain/guardrails/guardrails.ts';
import type { PassThroughEndpoint } from '../../domain/pass-through/endpoint.ts';
import { Secret } from '../../domain/secret.ts';
import type { DeclaredConfig } from '../../domain/settings/ownership.ts';
import type { FileLimits } from '../../domain/upstream-objects/file-limits.ts';
import type { Secrets } from '../credentials/encryption.ts';
import type { LogLevel } from '../telemetry/log.ts';
import { type BillingSettings, billingOf } from './billing.ts';
import { type CallerSettings, callersOf } from './callers.ts';
import { type ClickHouseSettings, clickHouseOf } from './clickhouse.ts';
import { readArguments } from './command-line.ts';
import { ConfigError, type ConfigFault, faultText, sortedFaults } from './config-fault.ts';
import { configWarnings } from './config-warnings.ts';
import { declaredConfigOf } from './declared-config.ts';
import { type HttpSettings, httpOf } from './http.ts';
import { readModels } from './model-list.ts';
import { openDocument } from './open-document.ts';
import { type OtlpExportSettings, otlpExportOf } from './otlp-export.ts';
import { type OtlpSettings, otlpOf } from './otlp.ts';
import { readCredentialList } from './credential-list.ts';
import { paramReader, readGuardrails } from './guardrails.ts';
import { type FileTargets, readFileTargets } from './file-targets.ts';
import { readPassThrough } from './pass-through.ts';
import { type EnvironmentAccount, readProviderAccounts } from './provider-accounts.ts';
import { type ConfigReader, createConfigReader } from './reload.ts';
import { type LensWorkSettings, lensWorkOf } from './lens.ts';
import { type CacheServerDefaults, cacheServerDefaultsOf, type SharingSettings, sharingOf } from './sharing.ts';
import { type SignInSettings, signInOf } from './sign-in.ts';
import { type StoreSwitches, storeSwitchesOf } from './store-switches.ts';
import type { SettingValues } from './table.ts';
import { type TokenSettings, tokensOf } from './tokens.ts';
import { createEnvironment, type Environment } from './environment.ts';
import { warnIfUnwise } from './unwise-settings.ts';
import { checkMasterKey, openAdminKey } from './admin-key.ts';
import { createDeploymentReader } from './stored-deployments.ts';
import { withStoredGeneral } from './stored-values.ts';
import { type UpstreamSettings, upstreamOf } from './upstream.ts';
import { readValues } from './values.ts';

/** Settings of the process. */
export interface Settings extends FileTargets {
  /** Address and port to listen on; port 0 takes a free one. */
  readonly host: string;
  readonly port: number;
  /** Folder of the SQLite database and the generated admin key. */
  readonly dataDir: string;
  /** Null for an SQLite file in the data folder. */
  readonly databaseUrl: string | null;
  /** ClickHouse server of the traces; null stores them in the database. */
  readonly clickHouse: ClickHouseSettings | null;
  /** SQLite driver; null takes `sqlite3` where it is installed. */
  readonly sqliteDriver: 'sqlite3' | 'node:sqlite' | null;
  readonly storeSwitches: StoreSwitches;
  /** Maximum wait of a write for a lock of another connection, in ms. */
  readonly lockTimeoutMs: number;
  readonly masterKey: Secret;
  readonly masterKeySource: 'environment' | 'config file' | 'data folder' | 'generated';
  readonly deployments: readonly Deployment[];
  /** Credentials of the file, which models use by name. */
  readonly credentials: readonly DeclaredCredential[];
  /** Reads deployments that are created at run time. */
  readonly deploymentReader: DeploymentReader;
  /** Secrets for parameters, credentials, guardrails, callbacks and sign-ins: the salt key, else the admin key. */
  readonly saltSecrets: Secrets;
  /** Secrets that encrypt stored settings and headers of pass-through endpoints: the admin key. */
  readonly adminSecrets: Secrets;
  /** Whether the APIs of providers are served below their prefixes. */
  readonly providerPassThrough: boolean;
  /**
   * Cost of an answered call to the API of a provider when its usage or price is unknown; null leaves the cost unknown.
   */
  readonly providerCostPerRequest: Usd | null;
  /** Minimum seconds between two polls of a coding agent. */
  readonly codingAgentPollSeconds: number;
  /** Secret of the signatures of webhooks of coding agents; null refuses all webhooks. */
  readonly codingAgentWebhookSecret: Secret | null;
  /** Pass-through endpoints of the file, and their default timeout. */
  readonly passThrough: { readonly endpoints: readonly PassThroughEndpoint[]; readonly timeoutSeconds: number };
  /** Guardrails of the file, and the reader of the params of all guardrails. */
  readonly guardrails: { readonly definitions: readonly GuardrailDefinition[]; readonly readParams: ParamReader };
  /** Accounts of providers whose own APIs are served below a prefix. */
  readonly providerAccounts: ReadonlyMap<string, EnvironmentAccount>;
  /** Whether the built-in `demo` model is served. */
  readonly demoModel: boolean;
  readonly maxRequestBytes: number;
  /** Maximum open connections of clients; 0 for no limit. */
  readonly maxConnections: number;
  /** Idle time of a stream before a heartbeat is sent; 0 sends none. */
  readonly streamHeartbeatSeconds: number;
  /** Connections to upstreams. */
  readonly upstream: UpstreamSettings;
  /** Maximum bytes of one file in a request. */
  readonly fileLimits: FileLimits;
  /** Whether prompts and answers are stored on the spans of the gateway. */
  readonly capturePrompts: boolean;
  /** Whether every stream ends with its usage, also when the request does not ask for the usage. */
  readonly alwaysStreamUsage: boolean;
  /** Maximum number of questions of one decision. */
  readonly mostDecisionQuestions: number;
  /** Label mass (`x_label_mass`) below which a question is asked again at a fallback; null asks none again. */
  readonly decisionFallbackBelow: number | null;
  readonly storeDecisions: StorageLevel;
  readonly decisionRetentionDays: number;
  readonly auditRetentionDays: number;
  readonly calibrateDecisions: boolean;
  /** Budget of customers that have no budget of their own; null for none. */
  readonly endUserBudgetId: string | null;
  /** Webhook of budget alerts; it may contain a secret. Null for none. */
  readonly budgetAlertUrl: string | null;
  /** Error kind of an exhausted budget. */
  readonly budgetErrorKind: BudgetErrorKind;
  /** Header that carries the key, in lower case; null for `Authorization`. */
  readonly keyHeader: string | null;
  readonly callers: CallerSettings;
  readonly sharing: SharingSettings;
  readonly cacheServer: CacheServerDefaults;
  /** Rules for creating and changing keys. */
  readonly keyRules: KeyRules;
  /** Ids of teams that users may join by themselves. */
  readonly availableTeams: readonly string[];
  /** Whether `/metrics` has histograms of calls by model. */
  readonly modelMetrics: boolean;
  /** Models that everyone may see, without a key. */
  readonly publicModels: readonly string[];
  readonly http: HttpSettings;
  /** Whether error messages name the other models that were tried. */
  readonly routerDebugInErrors: boolean;
  /** Whether the budget is also checked for fallback models. */
  readonly enforceFallbackBudget: boolean;
  /** Whether the expected cost of a call is reserved in budgets. */
  readonly reservesCosts: boolean;
  /** Whether only the owner of a response may read it. */
  readonly responseIdSecurity: boolean;
  /** Seconds between polls of open batches; 0 never polls. */
  readonly batchPollingSeconds: number;
  /** Seconds between commits of the counts of requests and of guardrail runs. */
  readonly activityWriteSeconds: number;
  /** Lens runs and signals of this process, and the token of a separate trace service. */
  readonly lens: LensWorkSettings;
  /** Seconds between probes of every deployment, 0 for none; and whether `GET /health` gives details. */
  readonly healthChecks: { readonly everySeconds: number; readonly details: boolean };
  /** Whether translated responses are stored for their owners. A request with `store: false` stores none. */
  readonly storeResponses: boolean;
  /** Age in days at which stored responses are deleted; 0 keeps them. */
  readonly responseRetentionDays: number;
  /** Name and password of the administrator, and limits of failed sign-ins. */
  readonly signIn: SignInSettings;
  /** Signed tokens of other issuers; null accepts none. */
  readonly tokens: TokenSettings | null;
  readonly introspection: boolean;
  readonly graphiql: boolean;
  /** Sale of access to the catalog. */
  readonly billing: BillingSettings;
  /** Limits of exports to `/v1/traces`. */
  readonly otlp: OtlpSettings;
  /** Export of the gateway's own spans; null for none. */
  readonly otlpExport: OtlpExportSettings | null;
  readonly catalogUrl: string | null;
  readonly catalogRefreshSeconds: number;
  /** Catalog requests per UTC day of a client without a key; 0 allows none. */
  readonly catalogDailyLimit: number;
  /** Wrong keys per minute of a client network; 0 sets no limit. */
  readonly wrongKeysPerMinute: number;
  /** Age in days at which traces are deleted; 0 keeps them. */
  readonly retentionDays: number;
  /** Addresses and CIDR blocks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: LogLevel;
  /** Reads the configuration again, on a thread. */
  readonly configReader: ConfigReader;
  /** Seconds between checks for changed files of the configuration; 0: no checks. */
  readonly configWatchSeconds: number;
  /** The configuration file, which owns the settings that it declares. */
  readonly config: DeclaredConfig;
  /** Whether models, access groups, fallbacks and groups of settings may be stored at run time. */
  readonly storesModels: boolean;
  /** Variables to which settings may refer, stored ones included. */
  readonly environment: Environment;
  /** Variables that the configuration file sets in the environment of the process, by name. They may be secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Texts to log at start. */
  readonly warnings: readonly string[];
  /**
   * These settings with stored values of `general_settings`, where arguments, environment and file set no value.
   * `valueOf` returns the stored value of a name.
   */
  withStored(valueOf: (name: string) => unknown): Settings;
}

/** Error kind of an exhausted budget, by the configured status. */
const BUDGET_ERROR_KINDS = { 422: 'unprocessable', 429: 'rate', 400: 'bad_request' } as const;

/**
 * Reads arguments, environment and config file, in that order of precedence. For settings with
 * `filePrecedesEnvironment`, the file comes before the environment. Variables that the file sets belong to the
 * environment and replace those of the process. Creates the data folder, and in it an admin key when none is
 * configured. Throws ConfigError with every fault.
 */
export function readSettings(
  argv: readonly string[],
  processEnv: NodeJS.ProcessEnv,
  generator: KeyGenerator,
): Settings {
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  const fault = (one: ConfigFault): void => void faults.push(one);
  const warn = (text: string): void => void warnings.push(text);
  const args = readArguments(argv);
  const file = args['config'] ?? processEnv['CONFIG_FILE_PATH'] ?? null;
  const document = openDocument(file, processEnv, fault);
  const env = { ...processEnv, ...document.variables };
  const read = readValues({ args, env, document }, fault);
  const { values } = read;

  const faultIfStrict = (one: ConfigFault): void => (values.strictConfig ? fault(one) : warn(faultText(one)));
  const deployments = readModels(document, {
    dropParams: values.dropParams,
    hasClientCredentials: values.clientCredentials,
    env,
    fault,
    faultIfStrict,
    warn,
  });
  const credentials = readCredentialList(document, { fault, faultIfStrict });
  const endpoints = readPassThrough(document, { env, fault });
  const guardrails = readGuardrails(document, { fault, faultIfStrict });
  const targets = readFileTargets(document, values, { env, fault, faultIfStrict });
  const providerAccounts = readProviderAccounts(env, fault);
  checkMasterKey(read, warn);
  warnIfUnwise(values, warn);
  if (guardrails.some(({ defaultOn }) => defaultOn))
    warn('Guardrails that run on every call do not check files, batches, realtime sessions or moderations.');
  for (const warning of configWarnings(document)) faultIfStrict(warning);
  const environment = createEnvironment(env);
  const otlpExport = otlpExportOf(read);
  const clickHouse = clickHouseOf(values, warn);
  const tokens = tokensOf(read, warn);
  if (faults.length > 0) throw new ConfigError(sortedFaults(faults));
  const adminKey = openAdminKey(read, generator);
  const former = (values.formerSecrets?.reveal() ?? '').split(',').flatMap((text) => secretIn(text.trim()));
  const settings: Settings = Object.freeze({
    ...settingsOf(values),
    ...adminKey,
    saltSecrets: { current: values.saltKey ?? adminKey.masterKey, former },
    adminSecrets: { current: adminKey.masterKey, former },
    deploymentReader: createDeploymentReader({ env: environment.variables, dropParams: values.dropParams }),
    configReader: createConfigReader(argv, () => ({ ...processEnv, ...environment.stored() })),
    environment,
    config: declaredConfigOf(document, file, env),
    deployments,
    credentials,
    providerAccounts,
    guardrails: { definitions: guardrails, readParams: paramReader(environment.variables) },
    ...targets,
    passThrough: { endpoints, timeoutSeconds: values.passThroughTimeoutSeconds },
    clickHouse,
    tokens,
    otlpExport,
    variables: document.variables,
    warnings,
    withStored(valueOf: (name: string) => unknown) {
      const stored = withStoredGeneral(read, valueOf);
      const timeoutSeconds = stored.passThroughTimeoutSeconds;
      return Object.freeze({ ...settings, ...settingsOf(stored), passThrough: { endpoints, timeoutSeconds } });
    },
  });
  return settings;
}

const secretIn = (text: string): readonly Secret[] => (text === '' ? [] : [new Secret(text)]);

/** The settings that follow from the values of the table alone. */
function settingsOf(values: SettingValues) {
  return {
    host: values.host,
    port: values.port,
    databaseUrl: values.databaseUrl,
    sqliteDriver: values.sqliteDriver === 'auto' ? null : values.sqliteDriver,
    storeSwitches: storeSwitchesOf(values),
    // In PostgreSQL, 0 means no timeout.
    lockTimeoutMs: Math.max(1, values.lockTimeoutMs),
    demoModel: values.demoModel,
    maxRequestBytes: values.maxRequestBytes,
    maxConnections: values.maxConnections,
    streamHeartbeatSeconds: values.streamHeartbeatSeconds,
    upstream: upstreamOf(values),
    fileLimits: { file: values.maxFileBytes, batchFile: values.maxBatchFileBytes },
    capturePrompts: values.capturePrompts && !values.messagesOff,
    alwaysStreamUsage: values.alwaysStreamUsage,
    mostDecisionQuestions: values.mostDecisionQuestions,
    decisionFallbackBelow: values.decisionFallbackBelow,
    storeDecisions: values.storeDecisions,
    decisionRetentionDays: values.decisionRetentionDays,
    auditRetentionDays: values.auditRetentionDays,
    calibrateDecisions: values.calibrateDecisions,
    providerPassThrough: values.providerPassThrough,
    providerCostPerRequest: values.providerCostPerRequest === null ? null : usdFrom(values.providerCostPerRequest),
    codingAgentPollSeconds: values.codingAgentPollSeconds,
    codingAgentWebhookSecret: values.codingAgentWebhookSecret,
    endUserBudgetId: values.endUserBudgetId,
    budgetAlertUrl: values.budgetAlertUrl,
    budgetErrorKind: BUDGET_ERROR_KINDS[values.budgetStatus],
    sharing: sharingOf(values),
    cacheServer: cacheServerDefaultsOf(values),
    keyHeader: values.keyHeader?.toLowerCase() ?? null,
    callers: callersOf(values),
    availableTeams: values.availableTeams,
    keyRules: keyRulesOf(values),
    publicModels: values.publicModels,
    modelMetrics: values.modelMetrics,
    http: httpOf(values),
    routerDebugInErrors: values.routerDebugInErrors,
    enforceFallbackBudget: values.enforceFallbackBudget,
    reservesCosts: !values.disableBudgetReservation,
    responseIdSecurity: !values.disableResponseIdSecurity,
    batchPollingSeconds: values.batchPollingSeconds,
    activityWriteSeconds: values.activityWriteSeconds,
    lens: lensWorkOf(values),
    healthChecks: {
      everySeconds: values.backgroundHealthChecks ? values.healthCheckSeconds : 0,
      details: values.healthCheckDetails,
    },
    storeResponses: values.storeResponses,
    responseRetentionDays: values.responseRetentionDays,
    signIn: signInOf(values),
    introspection: values.introspection,
    graphiql: values.graphiql,
    billing: billingOf(values),
    otlp: otlpOf(values),
    catalogUrl: values.catalogUrl,
    catalogRefreshSeconds: values.catalogRefreshSeconds,
    catalogDailyLimit: values.catalogDailyLimit,
    wrongKeysPerMinute: values.wrongKeysPerMinute,
    retentionDays: values.retentionDays,
    trustedProxies: values.trustedProxies,
    logLevel: values.logLevel,
    configWatchSeconds: values.configWatchSeconds,
    storesModels: values.storeModelInDb,
  } satisfies Partial<Settings>;
}
