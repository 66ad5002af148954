import { DEFAULT_INSERT_LIMITS } from '../../../domain/traces/insert-limits.ts';
import { DEFAULT_CONCURRENT_INGESTS, DEFAULT_OTLP_LIMITS } from '../../../domain/traces/otlp-limits.ts';
import { anyValue, secretText, text, textOrMap, integer } from '../kinds.ts';
import { setting } from '../setting.ts';
import { clickHouseAddressFault, databaseNameFault } from './checks.ts';

const MAX_RETENTION_DAYS = 36_500;
/** Maximum bytes of a buffer on every platform. */
const MAX_BYTES = 2 ** 31 - 1;
/** Highest nesting limit that can be set. Attribute values are decoded recursively. */
const MAX_DEPTH = 100;
const MS_PER_SECOND = 1_000;

/** Storage of traces. */
export const TRACE_STORE_SETTINGS = {
  traceStoreType: setting({
    kind: secretText('`clickhouse`, `postgres`, `sqlite` or `database`'),
    default: null,
    defaultText: '`clickhouse` when an address is set',
    file: 'general_settings.tracing.store.type',
    filePrecedesEnvironment: true,
    description: 'Store of the traces. May be written as `tracing.store: clickhouse`.',
  }),
  clickHouseUrl: setting({
    kind: secretText('address like http://user:password@host:8123', clickHouseAddressFault),
    default: null,
    env: ['CLICKHOUSE_URL'],
    file: 'general_settings.tracing.store.url',
    filePrecedesEnvironment: true,
    description: 'ClickHouse server that stores the traces ([guide](traces-in-clickhouse.md)).',
  }),
  clickHouseDatabase: setting({
    kind: secretText('letters, digits and underscores', databaseNameFault),
    default: 'lensgate',
    env: ['CLICKHOUSE_DATABASE'],
    file: 'general_settings.tracing.store.database',
    filePrecedesEnvironment: true,
    description: 'Database on that server.',
  }),
  clickHouseReaderUrl: setting({
    kind: secretText('address like http://user:password@host:8123', clickHouseAddressFault),
    default: null,
    defaultText: '`CLICKHOUSE_URL`',
    env: ['CLICKHOUSE_READER_URL'],
    description: 'Server that traces are read from.',
  }),
  clickHouseInsertBytes: setting({
    kind: integer(1, MAX_BYTES),
    default: DEFAULT_INSERT_LIMITS.bytes,
    env: ['CLICKHOUSE_TRACE_MAX_INSERT_BYTES'],
    unit: 'bytes',
    description: 'Maximum size of an insert. A larger row is refused with 413.',
  }),
  clickHouseInsertSeconds: setting({
    kind: integer(1, 3_600),
    default: DEFAULT_INSERT_LIMITS.timeoutMs / MS_PER_SECOND,
    env: ['CLICKHOUSE_INSERT_TIMEOUT_SECONDS'],
    unit: 's',
    description: 'Timeout of one insert.',
  }),
  retentionDays: setting({
    kind: integer(0, MAX_RETENTION_DAYS),
    default: 14,
    env: ['AGENT_TRACING_RETENTION_DAYS'],
    file: 'general_settings.tracing.store.retention_days',
    filePrecedesEnvironment: true,
    unit: 'days',
    description: 'Age of a trace, counted from its start, at which it is deleted. 0 keeps it.',
  }),
} as const;

const limit = (variable: string, byDefault: number, unit: string, description: string, max = MAX_BYTES) =>
  setting({ kind: integer(1, max), default: byDefault, env: [variable], unit, description });

/** Limits of exports to `/v1/traces`. */
export const OTLP_SETTINGS = {
  bodyBytes: limit('OTLP_MAX_BODY_BYTES', DEFAULT_OTLP_LIMITS.bodyBytes, 'bytes', 'Body, as received and inflated.'),
  concurrentIngests: limit(
    'OTLP_MAX_CONCURRENT_INGESTS',
    DEFAULT_CONCURRENT_INGESTS,
    'exports',
    'Maximum number of exports that are decoded at the same time; more are answered 503. Waiting for the store does not count.',
  ),
  spans: limit('OTLP_MAX_SPANS', DEFAULT_OTLP_LIMITS.spans, 'spans', 'Spans of an export.'),
  attributes: limit(
    'OTLP_MAX_ATTRIBUTES',
    DEFAULT_OTLP_LIMITS.attributes,
    'attributes',
    'Attributes of a resource, scope, span, event or link.',
  ),
  events: limit('OTLP_MAX_EVENTS', DEFAULT_OTLP_LIMITS.events, 'events', 'Events of a span.'),
  links: limit('OTLP_MAX_LINKS', DEFAULT_OTLP_LIMITS.links, 'links', 'Links of a span.'),
  valueBytes: limit(
    'OTLP_MAX_ATTRIBUTE_VALUE_BYTES',
    DEFAULT_OTLP_LIMITS.valueBytes,
    'bytes',
    'Stored part of an attribute, input or output. A longer value is cut, not refused.',
  ),
  depth: limit('OTLP_MAX_DECODE_DEPTH', DEFAULT_OTLP_LIMITS.depth, 'levels', 'Nesting.', MAX_DEPTH),
  nodes: limit(
    'OTLP_MAX_DECODE_NODES',
    DEFAULT_OTLP_LIMITS.nodes,
    'nodes',
    'Protobuf fields, or JSON keys and values; each span adds a sixty-fourth of this number (ADR 0024).',
  ),
  decodedBytes: limit(
    'OTLP_MAX_DECODED_SPAN_BYTES',
    DEFAULT_OTLP_LIMITS.decodedBytes,
    'bytes',
    'Decoded size: all texts and bytes, 16 per value, 128 per resource, scope, span, event and link.',
  ),
  offloadBytes: setting({
    kind: integer(1, MAX_BYTES),
    default: null,
    defaultText: '32768 (on one core 524288)',
    env: ['OTLP_OFFLOAD_DECODE_BYTES'],
    unit: 'bytes',
    description: 'Not a limit: inflated bodies above this size are decoded on a worker thread (ADR 0024).',
  }),
} as const;

const otel = (name: string): readonly string[] => [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];

/** Export of the gateway's own spans. `otlp-export.ts` checks the values, because they count only when export is on. */
export const EXPORT_SETTINGS = {
  exportEndpoint: setting({
    kind: text('http(s) address of a collector'),
    default: null,
    env: otel('ENDPOINT'),
    file: 'general_settings.otlp_endpoint',
    description:
      'Address of the collector. `/v1/traces` is appended, except to an address in the variable with `_TRACES_`.',
  }),
  exportHeaders: setting({
    kind: textOrMap('`name=value` pairs, comma-separated; a map in the file'),
    default: null,
    env: otel('HEADERS'),
    file: 'general_settings.otlp_headers',
    description: 'Headers of each request to the collector.',
  }),
  exportProtocol: setting({
    kind: text('http/protobuf, http/json'),
    default: 'http/protobuf',
    env: otel('PROTOCOL'),
    file: 'general_settings.otlp_protocol',
    description: 'Encoding of the spans.',
  }),
  exportCompression: setting({
    kind: text('gzip, none'),
    default: 'none',
    env: otel('COMPRESSION'),
    description: 'Compression of the requests.',
  }),
  exportTimeoutMs: setting({
    kind: text('whole number from 1 to 600000'),
    default: '10000',
    env: otel('TIMEOUT'),
    unit: 'ms',
    description: 'Timeout of one request.',
  }),
  exportDisabled: setting({
    kind: text('true'),
    default: null,
    env: ['OTEL_SDK_DISABLED'],
    description: '`true` switches the export off.',
  }),
  exportExporter: setting({
    kind: text('none'),
    default: null,
    env: ['OTEL_TRACES_EXPORTER'],
    description: '`none` switches the export off.',
  }),
  callbacks: setting({
    kind: anyValue('list of names'),
    default: null,
    file: 'litellm_settings.callbacks',
    description: '`otel` exports to `http://localhost:4318` when no collector is set. Other names have no effect.',
  }),
} as const;
