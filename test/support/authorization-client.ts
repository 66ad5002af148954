import { createHash, randomBytes } from 'node:crypto';

const COOKIE = /^lensgate_login=([\w-]+); HttpOnly; SameSite=Strict; Max-Age=600$/;

/** Status and parsed body of a JSON answer. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** What a scripted browser received. */
interface PageAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
  readonly headers: Headers;
}

/** An OAuth client and a browser, without a browser's checks. */
export interface AuthorizationClient {
  readonly redirectUri: string;
  readonly verifier: string;
  /** Parameters of a correct authorization request. */
  request(clientId: string): Record<string, string>;
  register(metadata?: object): Promise<JsonAnswer>;
  clientId(): Promise<string>;
  open(parameters: Record<string, string>, headers?: Record<string, string>): Promise<PageAnswer>;
  /** Sends the form. `cookie` null: without one. */
  submit(
    fields: Record<string, string>,
    options?: { readonly cookie?: string | null; readonly headers?: Record<string, string> },
  ): Promise<PageAnswer>;
  /** Opens the page, and sends its form with some values. */
  signIn(parameters: Record<string, string>, values: Record<string, string>): Promise<PageAnswer>;
  post(path: string, form: Record<string, string>): Promise<JsonAnswer>;
  /** Signs in, and exchanges the code. */
  logIn(values: Record<string, string>, clientId?: string): Promise<JsonAnswer & { readonly clientId: string }>;
}

/** Hidden fields of a page, by name. */
export const hiddenFields = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code))),
    ]),
  );

/** The code with which a browser was sent to the client. */
export const codeIn = ({ location }: { readonly location: string | null }): string =>
  new URL(location ?? '').searchParams.get('code') ?? '';

async function pageOf(answer: Response): Promise<PageAnswer> {
  const { status, headers } = answer;
  return { status, location: headers.get('location'), text: await answer.text(), headers };
}

export function authorizationClient(url: () => string): AuthorizationClient {
  const redirectUri = 'http://127.0.0.1:43117/callback';
  const verifier = randomBytes(48).toString('base64url');

  const client: AuthorizationClient = {
    redirectUri,
    verifier,
    request: (clientId) => ({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'a state & more',
      resource: url(),
    }),
    async register(metadata = {}) {
      const answer = await fetch(`${url()}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'litellm-cli', redirect_uris: [redirectUri], ...metadata }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    clientId: async () => String((await client.register()).body['client_id']),
    async open(parameters, headers = {}) {
      const query = new URLSearchParams(parameters).toString();
      return pageOf(await fetch(`${url()}/authorize?${query}`, { redirect: 'manual', headers }));
    },
    async submit(fields, { cookie = fields['csrf_token'] ?? '', headers = {} } = {}) {
      const answer = await fetch(`${url()}/authorize`, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...(cookie === null ? {} : { cookie: `lensgate_login=${cookie}` }), ...headers },
        body: new URLSearchParams(fields),
      });
      return pageOf(answer);
    },
    async signIn(parameters, values) {
      const page = await client.open(parameters);
      const [, cookie = ''] = COOKIE.exec(page.headers.get('set-cookie') ?? '') ?? [];
      return client.submit({ ...hiddenFields(page.text), ...values }, { cookie });
    },
    async post(path, form) {
      const answer = await fetch(`${url()}${path}`, { method: 'POST', body: new URLSearchParams(form) });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    async logIn(values, given) {
      const clientId = given ?? (await client.clientId());
      const code = codeIn(await client.signIn(client.request(clientId), values));
      const answer = await client.post('/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      });
      return { ...answer, clientId };
    },
  };
  return client;
}
