import { describe, expect, it } from 'vitest';
import type { ConfigFault, OtlpExportSection } from '../../../src/runtime/settings/config-file.ts';
import { readOtlpExport } from '../../../src/runtime/settings/otlp-export.ts';

const SILENT: OtlpExportSection = { endpoint: null, headers: null, protocol: null, called: false };
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

function read(env: Record<string, string>, file: Partial<OtlpExportSection> = {}) {
  const faults: ConfigFault[] = [];
  const settings = readOtlpExport(env, { ...SILENT, ...file }, (fault) => faults.push(fault));
  const headers = Object.fromEntries(
    Object.entries(settings?.headers ?? {}).map(([name, value]) => [name, value.reveal()]),
  );
  return { settings: settings === null ? null : { ...settings, headers }, faults };
}
const faultsOf = (env: Record<string, string>, file: Partial<OtlpExportSection> = {}) =>
  read(env, file).faults.map(({ source, key, message }) => `${source}: ${key}: ${message}`);

const to = (url: string) => ({ url, headers: {}, encoding: 'protobuf', gzip: false, timeoutMs: 10_000 });

describe('where spans are exported to', () => {
  it('is nowhere while nothing says so', () => {
    expect(read({})).toEqual({ settings: null, faults: [] });
    expect(read({ [ENDPOINT]: '' }).settings).toBeNull();
  });

  it.each([
    [{ [ENDPOINT]: 'http://collector:4318' }, {}, 'http://collector:4318/v1/traces'],
    [{ [ENDPOINT]: 'https://collector/otlp/' }, {}, 'https://collector/otlp/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a/here', [ENDPOINT]: 'http://b' }, {}, 'http://a/here'],
    [{}, { endpoint: 'http://c:1' }, 'http://c:1/v1/traces'],
    [{ [ENDPOINT]: 'http://b' }, { endpoint: 'http://c' }, 'http://b/v1/traces'],
    [{}, { called: true }, 'http://localhost:4318/v1/traces'],
    [{}, { called: true, endpoint: 'http://c' }, 'http://c/v1/traces'],
  ])('%j and %j in the file is %s', (env, file, url) => {
    expect(read(env, file)).toEqual({ settings: to(url), faults: [] });
  });

  it('is nowhere when OpenTelemetry is told to be silent', () => {
    for (const silence of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
      expect(read({ ...silence, [ENDPOINT]: 'nonsense' })).toEqual({ settings: null, faults: [] });
  });

  it('takes headers, encoding, compression and patience', () => {
    const env = {
      [ENDPOINT]: 'http://a',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20key, x-scope = a=b ,',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
    };
    expect(read(env, { headers: { unused: 'x' } })).toEqual({
      settings: {
        url: 'http://a/v1/traces',
        headers: { authorization: 'Bearer key', 'x-scope': 'a=b' },
        encoding: 'json',
        gzip: true,
        timeoutMs: 2_500,
      },
      faults: [],
    });
    const inFile = { endpoint: 'http://a', headers: { 'X-Key': '100%' }, protocol: 'http/json' };
    expect(read({}, inFile).settings).toMatchObject({ headers: { 'x-key': '100%' }, encoding: 'json' });
    expect(read({ [ENDPOINT]: 'http://a', OTEL_EXPORTER_OTLP_HEADERS: 'k=100%' }).settings?.headers).toEqual({
      k: '100%',
    });
  });

  it('is refused with every fault, and no value of a header', () => {
    const env = {
      [ENDPOINT]: 'ftp://collector',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd',
      OTEL_EXPORTER_OTLP_TIMEOUT: '0',
      OTEL_EXPORTER_OTLP_HEADERS: 'no-value,bad name=secret-1,host=secret-2,x-key=secret%0a3',
    };
    const header = 'environment: OTEL_EXPORTER_OTLP_HEADERS:';
    const form = 'has an entry that is no header: write name=value, with commas between';
    expect(faultsOf(env)).toEqual([
      `environment: ${ENDPOINT}: is not an http(s) address without a user, a query or a fragment; use headers`,
      'environment: OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not one of http/protobuf, http/json',
      'environment: OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" is not one of gzip, none',
      'environment: OTEL_EXPORTER_OTLP_TIMEOUT: "0" is not a whole number of milliseconds from 1 to 600000',
      `${header} ${form}`,
      `${header} ${form}`,
      `${header} must not set host`,
      `${header} has a value for x-key that no header can carry`,
    ]);
  });

  it.each(['http://user:pass@host', 'http://host?key=1', 'http://host#x', 'host:4318', 'nonsense'])(
    '%s is refused, also in the file',
    (endpoint) => {
      expect(faultsOf({}, { endpoint })).toEqual([
        'config file: general_settings.otlp_endpoint: is not an http(s) address without a user, a query or a fragment; use headers',
      ]);
    },
  );

  it('a protocol of the file is named as such', () => {
    expect(faultsOf({}, { endpoint: 'http://a', protocol: 'grpc' })).toEqual([
      'config file: general_settings.otlp_protocol: "grpc" is not one of http/protobuf, http/json',
    ]);
  });
});
