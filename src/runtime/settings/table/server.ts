import { DEFAULT_WRONG_KEYS, MAX_WRONG_KEYS } from '../../../domain/keys/failed-keys.ts';
import { proxyFault } from '../../network/client-network.ts';
import { LOG_LEVELS } from '../../telemetry/log.ts';
import { ADMIN_KEY_FORM } from '../data-folder.ts';
import { choice, decimal, flag, list, megabytes, secret, secretText, text, integer } from '../kinds.ts';
import { setting } from '../setting.ts';
import { httpAddressFault, originFault } from './checks.ts';

/** Upper bound of the setting: no process can have more connections open. */
const MAX_CONNECTIONS = 1_000_000;
const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024;

const keyFault = (key: string): string | null =>
  ADMIN_KEY_FORM.test(key)
    ? null
    : 'must begin with "sk-", followed by 1 to 509 printable ASCII characters without spaces';

/** Process, network and access. */
export const SERVER_SETTINGS = {
  configFile: setting({
    kind: text(),
    default: null,
    argument: '--config',
    env: ['CONFIG_FILE_PATH'],
    description: 'Configuration file (YAML). `os.environ/NAME` in it is replaced by that variable.',
  }),
  host: setting({
    kind: text(),
    default: '127.0.0.1',
    argument: '--host',
    env: ['HOST'],
    description: 'Address to listen on.',
  }),
  port: setting({
    kind: integer(0, 65_535),
    default: 4000,
    argument: '--port',
    env: ['PORT'],
    description: 'Port to listen on. 0 takes a free port.',
  }),
  publicUrl: setting({
    kind: text('http(s) address without a query', httpAddressFault),
    default: null,
    defaultText: 'the address listened on',
    env: ['PROXY_BASE_URL'],
    file: 'general_settings.proxy_base_url',
    description: 'Address at which clients reach this server. Needed to sell access.',
  }),
  masterKey: setting({
    kind: secret('`sk-` and at least one character', keyFault, { emptyIsUnset: false }),
    default: null,
    defaultText: 'generated at the first start',
    env: ['LITELLM_MASTER_KEY'],
    file: 'general_settings.master_key',
    description: 'Admin key. A key that tutorials print is refused on addresses other than loopback.',
  }),
  saltKey: setting({
    kind: secret(''),
    default: null,
    defaultText: 'the admin key',
    env: ['LITELLM_SALT_KEY'],
    description:
      'Encrypts stored credentials, parameters of models and guardrails, and secrets of callbacks. To change it, name the former key in `LENSGATE_FORMER_SECRETS`: values that were encrypted with an unknown key cannot be read.',
  }),
  formerSecrets: setting({
    kind: secret('comma-separated secrets'),
    default: null,
    env: ['LENSGATE_FORMER_SECRETS'],
    description:
      'Former salt keys and admin keys, comma-separated. The start encrypts again, with the current key, each value that a former key encrypted. After that, the former keys can be removed.',
  }),
  permitWeakKey: setting({
    kind: flag(),
    default: false,
    env: ['LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY'],
    file: 'general_settings.dangerously_permit_weak_or_unset_master_key',
    description: 'Accepts, on every address, an admin key that tutorials print.',
  }),
  keyHeader: setting({
    kind: text('name of a header', (name) =>
      /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) ? null : 'is not the name of a header',
    ),
    default: null,
    defaultText: '`Authorization`',
    file: 'general_settings.litellm_key_header_name',
    description: 'Header that carries the key in place of `Authorization`, as `Bearer sk-…`.',
  }),
  dataDir: setting({
    kind: text(),
    default: '.lensgate',
    env: ['LENSGATE_DATA_DIR'],
    description: 'Folder of the SQLite database, the generated admin key, the price map and compiled code.',
  }),
  maxRequestBytes: setting({
    kind: megabytes(),
    default: DEFAULT_MAX_REQUEST_BYTES,
    defaultText: '32',
    file: 'general_settings.max_request_size_mb',
    unit: 'MiB',
    description: 'Maximum size of a request body.',
  }),
  maxFileBytes: setting({
    kind: megabytes(),
    default: null,
    file: 'general_settings.max_file_size_mb',
    unit: 'MiB',
    description: 'Maximum size of a file in a request.',
  }),
  maxBatchFileBytes: setting({
    kind: megabytes(),
    default: null,
    defaultText: '`max_file_size_mb`',
    file: 'general_settings.max_batch_file_size_mb',
    unit: 'MiB',
    description: 'Maximum size of a file with the lines of a batch.',
  }),
  maxConnections: setting({
    kind: integer(0, MAX_CONNECTIONS),
    default: 10_000,
    env: ['LENSGATE_MAX_CONNECTIONS'],
    file: 'general_settings.max_connections',
    description: 'Maximum open client connections; more are answered 503. 0 sets no limit.',
  }),
  wrongKeysPerMinute: setting({
    kind: integer(0, MAX_WRONG_KEYS),
    default: DEFAULT_WRONG_KEYS,
    env: ['LENSGATE_WRONG_KEYS_PER_MINUTE'],
    unit: 'per minute',
    description:
      'Maximum number of wrong API keys of a client network. Beyond it, one unknown key of the network is checked each second, and the others get 429. 0 sets no limit.',
  }),
  trustedProxies: setting({
    kind: list('addresses or CIDR blocks', proxyFault),
    default: [],
    env: ['LENSGATE_TRUSTED_PROXIES'],
    file: 'general_settings.trusted_proxies',
    description: 'Proxies whose `X-Forwarded-For` is trusted.',
  }),
  corsAllowedOrigins: setting({
    kind: list('origins, or `*`', originFault),
    default: [],
    env: ['LENSGATE_CORS_ORIGINS'],
    file: 'general_settings.cors_allowed_origins',
    description: 'Origins whose pages may call the API and the graph from a browser. Empty turns CORS off.',
  }),
  fastPath: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_FAST_PATH'],
    description: 'Serves the most frequent routes without Koa. Off is slower and answers the same.',
  }),
  graphPlans: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_GRAPH_PLANS'],
    description: 'Compiles repeated queries of the graph. Off is slower and answers the same.',
  }),
  sharedSubscriptions: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_SHARED_SUBSCRIPTIONS'],
    description:
      'Executes an event once for all subscribers with the same operation and rights. Off is slower and answers the same.',
  }),
  jsonScan: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_JSON_SCAN'],
    description: 'Scans large bodies of model calls instead of parsing them. Off is slower and answers the same.',
  }),
  writeCoalescing: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_WRITE_COALESCING'],
    description:
      'Sends the writes of concurrent calls together, at the end of a turn of the event loop. Off is slower and answers the same.',
  }),
  plainYaml: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_PLAIN_YAML'],
    description:
      'Reads configuration files in simple YAML with a fast reader of its own. Off is slower and reads the same.',
  }),
  introspection: setting({
    kind: flag(),
    default: true,
    file: 'general_settings.graphql_introspection',
    description: 'Allows introspection of the GraphQL schema.',
  }),
  graphiql: setting({
    kind: flag(),
    default: true,
    file: 'general_settings.graphiql',
    description: 'Serves GraphiQL at `/graphql`.',
  }),
  logLevel: setting({
    kind: choice(LOG_LEVELS),
    default: 'info',
    env: ['LENSGATE_LOG_LEVEL'],
    description: 'Lowest log level that is written, as JSON lines to standard error.',
  }),
  storeModelInDb: setting({
    kind: flag(),
    default: true,
    env: ['STORE_MODEL_IN_DB'],
    file: 'general_settings.store_model_in_db',
    description:
      'Allows models, access groups, fallbacks, groups of settings and allowed addresses to be stored in the database at run time. Single settings are always stored.',
  }),
  allowedIps: setting({
    kind: list('addresses or CIDR blocks', proxyFault),
    default: [],
    defaultText: 'every address',
    file: 'general_settings.allowed_ips',
    description:
      'Addresses that may call, sign in or read pages. `/health/readiness`, `/health/liveness` and signed webhooks stay open. The list of the file wins over `/add/allowed_ip`.',
  }),
  configWatchSeconds: setting({
    kind: decimal({ from: 0, to: 3_600 }),
    default: 1,
    env: ['LENSGATE_CONFIG_WATCH_SECONDS'],
    file: 'general_settings.config_watch_seconds',
    unit: 's',
    description:
      'Interval between checks for changed files of the configuration, which are then read again; 0 never checks. SIGHUP reads them immediately.',
  }),
  strictConfig: setting({
    kind: flag(),
    default: false,
    file: 'strict_config',
    description:
      'Refuses to start when the file has a section, key or value without an effect, or a model that cannot be called.',
  }),
} as const;

/** Databases. */
export const STORAGE_SETTINGS = {
  databaseUrl: setting({
    kind: secretText('address of a database'),
    default: null,
    defaultText: 'SQLite in the data folder',
    env: ['DATABASE_URL'],
    file: 'general_settings.database_url',
    description: 'PostgreSQL server, `postgres://…`, or another SQLite file, `sqlite:///path`.',
  }),
  sqliteDriver: setting({
    kind: choice(['auto', 'sqlite3', 'node:sqlite']),
    default: 'auto',
    env: ['LENSGATE_SQLITE_DRIVER'],
    description: 'SQLite driver. `auto` takes `sqlite3` where it is installed.',
  }),
  callLog: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_CALL_LOG'],
    description:
      'Writes calls to a log that is unfolded into rows later. Off writes their rows immediately, which is slower.',
  }),
  spanBlocks: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_SPAN_BLOCKS'],
    description: 'Stores the first spans of small traces in blocks. Off stores all new spans as rows, which is slower.',
  }),
  callNotes: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_CALL_NOTES'],
    description:
      'Keeps notes for counting the calls of traces with 200 spans or more. Off reads the whole trace for each new export, which is slower.',
  }),
  packedRows: setting({
    kind: choice(['on', 'off']),
    default: 'on',
    env: ['LENSGATE_PACKED_ROWS'],
    description: 'Reads wide rows of SQLite as one text each. Off reads column by column, which is slower.',
  }),
  lockTimeoutMs: setting({
    kind: integer(0, 60_000),
    default: 5_000,
    env: ['LENSGATE_DATABASE_LOCK_TIMEOUT_MS'],
    unit: 'ms',
    description: 'Maximum wait of a write for a lock of another connection; then 503.',
  }),
} as const;
