import { Secret } from '../../domain/secret.ts';
import type { SettingsRead } from './values.ts';

/** Export of the gateway's own spans. */
export interface OtlpExportSettings {
  /** Whole address, with its path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly encoding: 'protobuf' | 'json';
  readonly gzip: boolean;
  /** Timeout of one request. */
  readonly timeoutMs: number;
}

/** Default collector of OpenTelemetry. */
const DEFAULT_ENDPOINT = 'http://localhost:4318';
const TRACES_PATH = '/v1/traces';
const MAX_TIMEOUT_MS = 600_000;
const PROTOCOLS = { 'http/protobuf': 'protobuf', 'http/json': 'json' } as const;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const PRINTABLE = /^[\t\x20-\x7e]*$/;
/** Headers that the exporter sets itself. */
const EXPORTER_HEADERS = new Set([
  'content-type',
  'content-encoding',
  'content-length',
  'host',
  'connection',
  'transfer-encoding',
]);

/**
 * The export; null when no collector is configured, the export is disabled, or address or protocol are invalid. Invalid
 * values are faults only when the export is on, because the variables of OpenTelemetry may belong to other programs.
 */
export function otlpExportOf({ values, originOf, refuse }: SettingsRead): OtlpExportSettings | null {
  if (values.exportDisabled?.toLowerCase() === 'true' || values.exportExporter === 'none') return null;
  const isCallback = [values.callbacks].flat().includes('otel');
  const endpoint = values.exportEndpoint?.trim() ?? (isCallback ? DEFAULT_ENDPOINT : null);
  if (endpoint === null) return null;

  const { from, key } = originOf('exportEndpoint');
  const isExact = from === 'environment' && key === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  const url = addressOf(endpoint, isExact);
  if (url === null)
    refuse('exportEndpoint', 'is not an http(s) address without a user, a query or a fragment; use headers');
  const protocol = values.exportProtocol.trim();
  const encoding = Object.entries(PROTOCOLS).find(([name]) => name === protocol)?.[1] ?? null;
  if (encoding === null) refuse('exportProtocol', `"${protocol}" is not one of ${Object.keys(PROTOCOLS).join(', ')}`);
  const compression = values.exportCompression.trim();
  if (compression !== 'gzip' && compression !== 'none')
    refuse('exportCompression', `"${compression}" is not one of gzip, none`);
  const timeout = values.exportTimeoutMs.trim();
  const timeoutMs = /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS)
    refuse('exportTimeoutMs', `"${timeout}" is not a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}`);
  const headers = headersOf(values.exportHeaders ?? {}, (message) => refuse('exportHeaders', message));

  if (url === null || encoding === null) return null;
  return { url, headers, encoding, gzip: compression === 'gzip', timeoutMs };
}

/**
 * Address of the collector; null when it is invalid. With `isExact` the address comes from the variable for traces, so
 * that no path is appended.
 */
function addressOf(endpoint: string, isExact: boolean): string | null {
  const url = URL.parse(endpoint);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) return null;
  return isExact ? url.href : `${url.href.replace(/\/+$/, '')}${TRACES_PATH}`;
}

/** Percent-encoded `name=value` pairs, or a map of the file. Messages never repeat a value. */
function headersOf(
  source: string | Readonly<Record<string, string>>,
  refuse: (message: string) => void,
): Readonly<Record<string, Secret>> {
  const headers: Record<string, Secret> = {};
  for (const [name, value] of typeof source === 'string' ? pairsOf(source) : Object.entries(source)) {
    if (!TOKEN.test(name)) refuse('has an entry that is not a header: write name=value, with commas between');
    else if (EXPORTER_HEADERS.has(name.toLowerCase())) refuse(`must not set ${name.toLowerCase()}`);
    else if (!PRINTABLE.test(value)) refuse(`has a value for ${name} that no header can carry`);
    else headers[name.toLowerCase()] = new Secret(value);
  }
  return headers;
}

const pairsOf = (text: string): readonly (readonly [string, string])[] =>
  text
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .map((pair) => {
      const mark = pair.indexOf('=');
      // An empty name is refused as a header.
      return mark < 1 ? ['', ''] : [pair.slice(0, mark).trim(), decoded(pair.slice(mark + 1).trim())];
    });

/** Decodes percent signs; a text that is not percent-encoded stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
