import type { GoogleAuth } from 'google-auth-library';
import { CloudRefused, type CloudTokens } from '../../domain/chat/cloud-tokens.ts';
import { Secret } from '../../domain/secret.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** Timeout of a token request, in ms. */
const TIMEOUT_MS = 10_000;

/**
 * Access tokens of Google Cloud, for service accounts and all other types that Google's library supports. Credentials
 * are the JSON text of a key, or the path of its file. Without them, the application default credentials are used.
 * Concurrent callers share one request, and a token is refreshed shortly before its expiry.
 */
export function createGoogleTokens(fetchTokens?: typeof fetch): CloudTokens {
  const accounts = new Map<string, Promise<GoogleAuth>>();

  async function open(credentials: string | null): Promise<GoogleAuth> {
    // Loaded when the first deployment needs it: most installations have none.
    const library = await import('google-auth-library');
    const transporterOptions = { timeout: TIMEOUT_MS, ...(fetchTokens && { fetchImplementation: fetchTokens }) };
    const common = { scopes: SCOPE, clientOptions: { transporterOptions } };
    if (credentials === null) return new library.GoogleAuth(common);
    if (!credentials.trimStart().startsWith('{'))
      return new library.GoogleAuth({ ...common, keyFilename: credentials });
    return new library.GoogleAuth({ ...common, credentials: JSON.parse(credentials) as object });
  }

  return {
    async for(credentials) {
      const text = credentials?.reveal() ?? null;
      const name = text ?? '';
      let account = accounts.get(name);
      if (account === undefined) {
        account = open(text);
        accounts.set(name, account);
      }
      try {
        const auth = await account;
        const token = await auth.getAccessToken();
        if (!token) throw new CloudRefused('Google gave no access token.');
        return { token: new Secret(token), project: text === null ? null : projectIn(text) };
      } catch (error) {
        if (error instanceof CloudRefused) throw error;
        // The original message may contain the credentials.
        throw new CloudRefused('Google gave no access token for the credentials of this deployment.', { cause: error });
      }
    },
  };
}

/** The project that a key names, if any; null for a file, which only the library reads. */
function projectIn(text: string): string | null {
  try {
    const key: unknown = JSON.parse(text);
    if (typeof key !== 'object' || key === null || !('project_id' in key)) return null;
    return typeof key.project_id === 'string' ? key.project_id : null;
  } catch {
    return null;
  }
}
