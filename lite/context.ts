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

/** What a command knows: the server, the key and its process. */
export interface Context {
  readonly host: Host;
  readonly baseUrl: string;
  /** Whether an option or a variable names the server. */
  readonly isExplicitUrl: boolean;
  /** The key of an option or a variable; null for none. */
  readonly explicitKey: string | null;
  /** The explicit key, else that of the stored login for this server. Null for neither. */
  key(): Promise<string | null>;
  /** The key, where it is known without a request; null otherwise. */
  knownKey(): string | null;
  /** Requests to the server, with the key where there is one. */
  client(): Promise<Client>;
}

/** Reads what is the same for every command. Throws UsageFailure for an invalid base URL. */
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

  return {
    host,
    baseUrl,
    isExplicitUrl: explicit !== null,
    explicitKey,
    key,
    knownKey: () => known,
    client: async () => createClient(baseUrl, checkedKey(await key())),
  };
}

const nonBlank = (text: string | null): string | null => (text === null || text.trim() === '' ? null : text.trim());

/** A key that can stand in a header. Throws CommandFailure, without the key. */
export function checkedKey(key: string | null): string | null {
  if (key !== null && !/^[\u0021-\u007e]+$/.test(key))
    throw new CommandFailure('The API key has characters that no header may contain.');
  return key;
}
