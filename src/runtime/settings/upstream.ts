import type { ConfigFault } from './config-file.ts';
import { type ClientChoice, CLIENTS, MOST_CONNECTIONS, type UpstreamSection } from './upstream-section.ts';
import { countIn } from './whole-number.ts';

/** How upstreams are called. */
export interface UpstreamSettings {
  /** `undici` where a forward proxy is configured or the setting says so. */
  readonly client: 'native' | 'undici';
  /** Most connections to one origin. */
  readonly connections: number;
  /** What of the connections that others do not use one key may use, above 0 and up to 1. */
  readonly connectionShare: number;
  /** How long an upstream may be silent within an answer before it counts as gone. */
  readonly silenceSeconds: number;
  /** How long the reader of an answer may take nothing before it is cut, with its upstream. */
  readonly stalledReaderSeconds: number;
}

/** Variables that name a forward proxy. The upper case of HTTP_PROXY is read, too: this is no CGI program. */
const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/** Reads `LENSGATE_HTTP_CLIENT`, `LENSGATE_UPSTREAM_CONNECTIONS` and the proxy variables; a variable wins over the file. */
export function readUpstream(
  env: NodeJS.ProcessEnv,
  file: UpstreamSection,
  fault: (fault: ConfigFault) => void,
): UpstreamSettings {
  const proxied = PROXY_VARIABLES.filter((name) => env[name]);
  for (const name of proxied) {
    if (!isProxy(env[name] ?? ''))
      fault({ source: 'environment', line: null, key: name, message: 'is not an http:// or https:// address' });
  }
  const choice = clientIn(env, fault) ?? file.http_client ?? 'auto';
  const automatic = proxied.length > 0 ? 'undici' : 'native';
  return {
    client: choice === 'auto' ? automatic : choice,
    connections: countIn(env, 'LENSGATE_UPSTREAM_CONNECTIONS', {
      otherwise: file.upstream_connections ?? 256,
      most: MOST_CONNECTIONS,
      fault,
    }),
    connectionShare: file.upstream_connection_share ?? 0.75,
    silenceSeconds: file.upstream_silence_seconds ?? 300,
    stalledReaderSeconds: file.stalled_reader_seconds ?? 120,
  };
}

function clientIn(env: NodeJS.ProcessEnv, fault: (fault: ConfigFault) => void): ClientChoice | null {
  const name = 'LENSGATE_HTTP_CLIENT';
  const value = env[name];
  if (value === undefined || value === '') return null;
  const choice = CLIENTS.find((one) => one === value);
  if (choice !== undefined) return choice;
  fault({ source: 'environment', line: null, key: name, message: `"${value}" is not one of ${CLIENTS.join(', ')}` });
  return null;
}

/** The value may hold a password, so that no message repeats it. */
function isProxy(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
