import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { faultsFrom, settingsFrom } from '../../support/read-settings.ts';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/** Settings of the export in the configuration file. */
interface FileSettings {
  readonly endpoint?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocol?: string;
  readonly hasCallback?: boolean;
}

const sourcesOf = (env: Record<string, string>, { endpoint, headers, protocol, hasCallback }: FileSettings = {}) => ({
  env,
  yaml: stringify({
    general_settings: {
      otlp_endpoint: endpoint ?? null,
      otlp_headers: headers ?? null,
      otlp_protocol: protocol ?? null,
    },
    litellm_settings: { callbacks: hasCallback === true ? ['otel'] : [] },
  }),
});

function read(...source: Parameters<typeof sourcesOf>) {
  const settings = settingsFrom(sourcesOf(...source)).otlpExport;
  const headers = Object.entries(settings?.headers ?? {}).map(([name, value]) => [name, value.reveal()]);
  return settings === null ? null : { ...settings, headers: Object.fromEntries(headers) as unknown };
}

const faultsOf = (...source: Parameters<typeof sourcesOf>) => faultsFrom(sourcesOf(...source));

const exportTo = (url: string) => ({ url, headers: {}, encoding: 'protobuf', gzip: false, timeoutMs: 10_000 });

describe('the span export', () => {
  it('is disabled by default', () => {
    expect(read({})).toBeNull();
    expect(read({ [ENDPOINT]: '' })).toBeNull();
  });

  it.each([
    [{ [ENDPOINT]: 'http://collector:4318' }, {}, 'http://collector:4318/v1/traces'],
    [{ [ENDPOINT]: 'https://collector/otlp/' }, {}, 'https://collector/otlp/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a/here', [ENDPOINT]: 'http://b' }, {}, 'http://a/here'],
    [{}, { endpoint: 'http://c:1' }, 'http://c:1/v1/traces'],
    [{ [ENDPOINT]: 'http://b' }, { endpoint: 'http://c' }, 'http://b/v1/traces'],
    [{}, { hasCallback: true }, 'http://localhost:4318/v1/traces'],
    [{}, { hasCallback: true, endpoint: 'http://c' }, 'http://c/v1/traces'],
  ])(
    'with %j in the environment and %j in the file is sent to %s',
    (env: Record<string, string>, file: FileSettings, url) => {
      expect(read(env, file)).toEqual(exportTo(url));
    },
  );

  it('is disabled where OpenTelemetry is disabled', () => {
    for (const disabling of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
      expect(read({ ...disabling, [ENDPOINT]: 'nonsense' })).toBeNull();
  });

  it('has the configured headers, encoding, compression and timeout', () => {
    const env = {
      [ENDPOINT]: 'http://a',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20key, x-scope = a=b ,',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
    };
    expect(read(env, { headers: { unused: 'x' } })).toEqual({
      url: 'http://a/v1/traces',
      headers: { authorization: 'Bearer key', 'x-scope': 'a=b' },
      encoding: 'json',
      gzip: true,
      timeoutMs: 2_500,
    });
    const inFile = { endpoint: 'http://a', headers: { 'X-Key': '100%' }, protocol: 'http/json' };
    expect(read({}, inFile)).toMatchObject({ headers: { 'x-key': '100%' }, encoding: 'json' });
    expect(read({ [ENDPOINT]: 'http://a', OTEL_EXPORTER_OTLP_HEADERS: 'k=100%' })?.headers).toEqual({
      k: '100%',
    });
  });

  it('is refused with all errors, none of which contains a header value', () => {
    const env = {
      [ENDPOINT]: 'ftp://collector',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd',
      OTEL_EXPORTER_OTLP_TIMEOUT: '0',
      OTEL_EXPORTER_OTLP_HEADERS: 'no-value,bad name=secret-1,host=secret-2,x-key=secret%0a3',
    };
    const header = 'environment: OTEL_EXPORTER_OTLP_HEADERS:';
    const form = 'has an entry that is not a header: write name=value, with commas between';
    expect(faultsOf(env)).toEqual([
      `environment: ${ENDPOINT}: is not an http(s) address without a user, a query or a fragment; use headers`,
      'environment: OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not one of http/protobuf, http/json',
      'environment: OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" is not one of gzip, none',
      'environment: OTEL_EXPORTER_OTLP_TIMEOUT: "0" is not a whole number of milliseconds from 1 to 600000',
      // One error for `no-value`, and one for `bad name`.
      `${header} ${form}`,
      `${header} ${form}`,
      `${header} must not set host`,
      `${header} has a value for x-key that no header can carry`,
    ]);
  });

  it.each(['http://user:pass@host', 'http://host?key=1', 'http://host#x', 'host:4318', 'nonsense'])(
    'is refused with the address %s in the file',
    (endpoint) => {
      expect(faultsOf({}, { endpoint })).toEqual([
        'config.yaml:2: general_settings.otlp_endpoint: is not an http(s) address without a user, a query or a fragment; use headers',
      ]);
    },
  );

  it('is refused with file and line for an unknown protocol in the file', () => {
    expect(faultsOf({}, { endpoint: 'http://a', protocol: 'grpc' })).toEqual([
      'config.yaml:4: general_settings.otlp_protocol: "grpc" is not one of http/protobuf, http/json',
    ]);
  });
});
