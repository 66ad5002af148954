import { Secret } from '../../domain/secret.ts';
import type { ConfigFault, OtlpExportSection } from './config-file.ts';

/** Where the gateway's own spans are sent. */
export interface OtlpExportSettings {
  /** The whole address, with its path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly encoding: 'protobuf' | 'json';
  readonly gzip: boolean;
  /** How long one request may take. */
  readonly timeoutMs: number;
}

/** Where OpenTelemetry expects a collector when nothing is said. */
const DEFAULT_ENDPOINT = 'http://localhost:4318';
const TRACES_PATH = '/v1/traces';
const TIMEOUT_MS = 10_000;
const LONGEST_TIMEOUT_MS = 600_000;
const PROTOCOLS = { 'http/protobuf': 'protobuf', 'http/json': 'json' } as const;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const PRINTABLE = /^[\t\x20-\x7e]*$/;
/** Headers that say what a request is, which is ours to say. */
const OWN = new Set(['content-type', 'content-encoding', 'content-length', 'host', 'connection', 'transfer-encoding']);

/**
 * Reads OpenTelemetry's own variables, before the file; null when nothing names a collector. What the traces' own
 * variable says goes before what is said for all signals, as the specification has it.
 */
export function readOtlpExport(
  env: NodeJS.ProcessEnv,
  file: OtlpExportSection,
  fault: (fault: ConfigFault) => void,
): OtlpExportSettings | null {
  const faulty = (key: string, message: string, source = 'environment'): null => {
    fault({ source, line: null, key, message });
    return null;
  };
  const told = (name: string): { readonly key: string; readonly value: string } | null => {
    const key = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`].find((known) => env[known]);
    return key === undefined ? null : { key, value: env[key]?.trim() ?? '' };
  };
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none') return null;

  const named = told('ENDPOINT');
  const endpoint = named?.value ?? file.endpoint ?? (file.called ? DEFAULT_ENDPOINT : null);
  if (endpoint === null) return null;
  const exact = named?.key === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  const endpointKey = named?.key ?? 'general_settings.otlp_endpoint';
  const source = named === null ? 'config file' : 'environment';
  const url = addressOf(endpoint, exact);
  if (url === null)
    faulty(endpointKey, 'is not an http(s) address without a user, a query or a fragment; use headers', source);

  const spoken = told('PROTOCOL') ?? { key: 'general_settings.otlp_protocol', value: file.protocol ?? 'http/protobuf' };
  const encoding = Object.entries(PROTOCOLS).find(([name]) => name === spoken.value)?.[1] ?? null;
  if (encoding === null)
    faulty(
      spoken.key,
      `"${spoken.value}" is not one of ${Object.keys(PROTOCOLS).join(', ')}`,
      spoken.key.startsWith('OTEL') ? 'environment' : 'config file',
    );

  const packing = told('COMPRESSION') ?? { key: '', value: 'none' };
  if (packing.value !== 'gzip' && packing.value !== 'none')
    faulty(packing.key, `"${packing.value}" is not one of gzip, none`);
  const patience = told('TIMEOUT');
  const timeoutMs = patience === null ? TIMEOUT_MS : /^\d{1,9}$/.test(patience.value) ? Number(patience.value) : 0;
  if (patience !== null && (timeoutMs < 1 || timeoutMs > LONGEST_TIMEOUT_MS))
    faulty(patience.key, `"${patience.value}" is not a whole number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}`);
  const headers = headersOf(told('HEADERS'), file.headers, (key, message, from) => faulty(key, message, from));

  if (url === null || encoding === null) return null;
  return { url, headers, encoding, gzip: packing.value === 'gzip', timeoutMs };
}

/** An address for all signals has the path of ours appended; one for traces is taken as it is. */
function addressOf(endpoint: string, exact: boolean): string | null {
  const url = URL.parse(endpoint);
  const plain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!plain || !/^https?:$/.test(url.protocol)) return null;
  if (exact) return url.href;
  return `${url.href.replace(/\/+$/, '')}${TRACES_PATH}`;
}

/** `name=value` pairs with percent signs, as OpenTelemetry writes them, or the file's own. Values are never repeated. */
function headersOf(
  told: { readonly key: string; readonly value: string } | null,
  inFile: Readonly<Record<string, string>> | null,
  faulty: (key: string, message: string, source: string) => void,
): Readonly<Record<string, Secret>> {
  const pairs: (readonly [string, string])[] =
    told === null
      ? Object.entries(inFile ?? {})
      : told.value
          .split(',')
          .map((pair) => pair.trim())
          .filter((pair) => pair !== '')
          .map((pair) => {
            const mark = pair.indexOf('=');
            return mark < 1 ? ['', ''] : [pair.slice(0, mark).trim(), decoded(pair.slice(mark + 1).trim())];
          });
  const headers: Record<string, Secret> = {};
  for (const [name, value] of pairs) {
    const key = told?.key ?? 'general_settings.otlp_headers';
    const source = told === null ? 'config file' : 'environment';
    if (!TOKEN.test(name)) faulty(key, 'has an entry that is no header: write name=value, with commas between', source);
    else if (OWN.has(name.toLowerCase())) faulty(key, `must not set ${name.toLowerCase()}`, source);
    else if (!PRINTABLE.test(value)) faulty(key, `has a value for ${name} that no header can carry`, source);
    else headers[name.toLowerCase()] = new Secret(value);
  }
  return headers;
}

/** What percent signs stand for; a text whose percent signs stand for nothing is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
