import { allowedHostFault } from '../network/caller-addresses.ts';
import type { CallerSection } from './callers-section.ts';
import type { ConfigFault } from './config-file.ts';

/** What callers may choose themselves, and what they are shown of upstreams. */
export interface CallerSettings {
  /** Callers may send a key and an address of their own, to every deployment. */
  readonly clientCredentials: boolean;
  /** Hosts, addresses and blocks that are not public and that callers may nevertheless choose. */
  readonly allowedHosts: readonly string[];
  /** Answers name the base address of the upstream to every caller, not to administrators only. */
  readonly exposeApiBase: boolean;
}

const EXPOSE_VARIABLE = 'LENSGATE_EXPOSE_API_BASE_HEADER';
const HOSTS_VARIABLE = 'LENSGATE_USER_URL_ALLOWED_HOSTS';

/** Reads the settings; the environment wins over the file. `fault` is called for each value that cannot be used. */
export function readCallers(
  env: NodeJS.ProcessEnv,
  { general, shared }: CallerSection,
  fault: (fault: ConfigFault) => void,
): CallerSettings {
  return {
    clientCredentials: general?.allow_client_side_credentials ?? false,
    allowedHosts: hostsIn(env, fault) ?? shared?.user_url_allowed_hosts ?? [],
    exposeApiBase: flagIn(env, EXPOSE_VARIABLE, fault) ?? general?.expose_api_base_header ?? true,
  };
}

/** `true` or `false`; null when unset. */
function flagIn(env: NodeJS.ProcessEnv, key: string, fault: (fault: ConfigFault) => void): boolean | null {
  const value = env[key] ?? '';
  if (value === '') return null;
  if (!/^(true|false)$/i.test(value))
    fault({ source: 'environment', line: null, key, message: `"${value}" is neither true nor false` });
  return value.toLowerCase() === 'true';
}

/** Entries separated by commas; null when there are none. */
function hostsIn(env: NodeJS.ProcessEnv, fault: (fault: ConfigFault) => void): readonly string[] | null {
  const entries = (env[HOSTS_VARIABLE] ?? '').split(',').map((entry) => entry.trim());
  const hosts = entries.filter((entry) => entry !== '');
  for (const host of hosts) {
    const message = allowedHostFault(host);
    if (message !== null) fault({ source: 'environment', line: null, key: HOSTS_VARIABLE, message });
  }
  return hosts.length === 0 ? null : hosts;
}
