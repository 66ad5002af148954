import { CommandFailure } from './failure.ts';
import { readConfig } from './files/config-file.ts';
import { readLogin } from './files/login-file.ts';
import { type Host, variable } from './host.ts';
import { freshKey } from './login/renewal.ts';
import { checkedBaseUrl, DEFAULT_BASE_URL } from './server/base-url.ts';
import { type Client, createClient } from './server/client.ts';

/** Options before the command. Null where they are absent. */
export interface GlobalOptions {
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
}

/** Server, key and process of one command. */
export interface Context {
  readonly host: Host;
  readonly baseUrl: string;
  /** Whether `--base-url` or `LITELLM_PROXY_URL` names the server. */
  readonly isExplicitUrl: boolean;
  /** The key of `--api-key` or `LITELLM_PROXY_API_KEY`; null for none. */
  readonly explicitKey: string | null;
  /** The explicit key, else the key of the stored login for this server, else null. */
  key(): Promise<string | null>;
  /** The explicit key, or the key that an earlier call of `key()` found; null otherwise. Sends no request. */
  knownKey(): string | null;
  /** A client of the server, with the key where there is one. Throws CommandFailure for an invalid key. */
  client(): Promise<Client>;
  /** Sends one request by `client()`. Throws what `Client.send` throws. */
  send: Client['send'];
}

/** Selects the server of a command. Throws UsageFailure for an invalid base URL. */
export function createContext(host: Host, options: GlobalOptions): Context {
  const explicit = options.baseUrl ?? variable(host, 'LITELLM_PROXY_URL');
  const explicitKey = nonBlank(options.apiKey) ?? variable(host, 'LITELLM_PROXY_API_KEY');
  const source = options.baseUrl === null ? 'LITELLM_PROXY_URL' : '--base-url';
  const baseUrl =
    explicit === null
      ? checkedBaseUrl(readConfig(host)['base_url'] ?? DEFAULT_BASE_URL)
      : checkedBaseUrl(explicit, source);
  let stored: Promise<string | null> | null = null;
  let known = explicitKey;

  async function storedKey(): Promise<string | null> {
    const login = readLogin(host);
    known = login === null || login.baseUrl !== baseUrl ? null : await freshKey(host, login);
    return known;
  }
  const key = (): Promise<string | null> =>
    explicitKey === null ? (stored ??= storedKey()) : Promise.resolve(explicitKey);

  const client = async (): Promise<Client> => createClient(baseUrl, checkedKey(await key()));

  return {
    host,
    baseUrl,
    isExplicitUrl: explicit !== null,
    explicitKey,
    key,
    knownKey: () => known,
    client,
    send: async (...request) => (await client()).send(...request),
  };
}

const nonBlank = (text: string | null): string | null => (text === null || text.trim() === '' ? null : text.trim());

/** Checks that a header can contain a key. Throws CommandFailure, without the key in its message. */
export function checkedKey(key: string | null): string | null {
  if (key !== null && !/^[\u0021-\u007e]+$/.test(key))
    throw new CommandFailure('The API key has characters that no header may contain.');
  return key;
}
