import { createClient } from 'graphql-sse';
import type { TypedDocumentString } from './generated/graphql.ts';

/** Address of the graph, relative to the page. */
const GRAPH = 'graphql';
/** Entry of the tab's storage with a pasted key. GraphiQL uses the same entry. */
const KEY_ENTRY = 'lensgate-key';
const CSRF_COOKIE = 'lensgate_csrf=';
/** Deadline of a query or mutation, in ms. */
const DEADLINE_MS = 30_000;

/** A failed request, with the message of the graph or of the network. */
export class GraphError extends Error {
  /** Whether the server has accepted no credential. */
  readonly isSignedOut: boolean;

  constructor(message: string, isSignedOut: boolean) {
    super(message);
    this.isSignedOut = isSignedOut;
  }
}

const pastedKey = (): string => sessionStorage.getItem(KEY_ENTRY) ?? '';

/** Stores a key for this tab. An empty text removes the stored key. */
export function storePastedKey(key: string): void {
  if (key === '') sessionStorage.removeItem(KEY_ENTRY);
  else sessionStorage.setItem(KEY_ENTRY, key);
}

const csrfToken = (): string =>
  document.cookie
    .split('; ')
    .find((cookie) => cookie.startsWith(CSRF_COOKIE))
    ?.slice(CSRF_COOKIE.length) ?? '';

/** Headers with the pasted key, or with the CSRF token of the session cookie. */
function credentialHeaders(): Record<string, string> {
  const key = pastedKey();
  if (key !== '') return { authorization: `Bearer ${key}` };
  const token = csrfToken();
  return token === '' ? {} : { 'x-csrf-token': token };
}

export const hasCredential = (): boolean => Object.keys(credentialHeaders()).length > 0;

interface GraphAnswer<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** Runs a query or mutation. Throws GraphError, also for an answer that has both errors and data. */
export async function request<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const response = await fetch(GRAPH, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...credentialHeaders() },
    body: JSON.stringify({ query: document.toString(), variables }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).catch((error: unknown) => {
    throw new GraphError(
      `The server cannot be reached: ${error instanceof Error ? error.message : String(error)}`,
      false,
    );
  });
  const answer = (await response.json().catch(() => ({}))) as GraphAnswer<Result>;
  const [error] = answer.errors ?? [];
  const isSignedOut = response.status === 401 || error?.extensions?.code === 'UNAUTHENTICATED';
  if (error !== undefined) throw new GraphError(error.message, isSignedOut);
  if (answer.data === undefined || answer.data === null)
    throw new GraphError(`The server answered with status ${response.status}.`, isSignedOut);
  return answer.data;
}

/** Maximum attempts to open a lost connection again. The delays between them grow. */
const RETRY_ATTEMPTS = 20;

interface Subscriber<Result> {
  /** Called when the connection opens, and opens again. Earlier updates may be missing. */
  readonly opened: () => void;
  readonly next: (result: Result) => void;
  readonly failed: (message: string) => void;
}

/** Starts a subscription. Opens a lost connection again. Returns a function that ends the subscription. */
export function subscribe<Result, Variables extends Record<string, unknown>>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { opened, next, failed }: Subscriber<Result>,
): () => void {
  const client = createClient({
    url: GRAPH,
    singleConnection: false,
    headers: credentialHeaders,
    retryAttempts: RETRY_ATTEMPTS,
    on: { connected: opened },
  });
  return client.subscribe<Result>(
    { query: document.toString(), variables },
    {
      next({ data, errors }) {
        const [error] = errors ?? [];
        if (error !== undefined) failed(error.message);
        else if (data !== undefined && data !== null) next(data);
      },
      error: (error) => failed(error instanceof Error ? error.message : 'The live connection was lost.'),
      complete: () => failed('The server ended the live connection.'),
    },
  );
}

/** Removes the pasted key. Without a pasted key, ends the session of the browser. A failed request is ignored. */
export async function signOut(): Promise<void> {
  const headers = credentialHeaders();
  const hadKey = pastedKey() !== '';
  storePastedKey('');
  if (!hadKey)
    await fetch('logout', { method: 'POST', headers, signal: AbortSignal.timeout(DEADLINE_MS) }).catch(() => {});
}
