import { contentFilter, type GuardedApp, startGuarded } from '../guardrails/guarded-app.ts';

export type Json = Readonly<Record<string, unknown>>;
export const CHAT = '/v1/chat/completions';

/** Body of an answer to a request without a key. */
export const NO_KEY = {
  error: {
    message:
      'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
    type: 'auth_error',
    param: 'None',
    code: '401',
  },
};

/** Body of an answer to a change by a read-only administrator. */
export const VIEWER_REFUSED = {
  error: {
    message: 'user not allowed to access this route, role= proxy_admin_viewer.',
    type: 'auth_error',
    param: 'None',
    code: '403',
  },
};

/** Guardrail that blocks `<name>-word`. */
export const blocks = (name: string, params: object = {}): object =>
  contentFilter(name, { blocked_words: [{ keyword: `${name}-word`, action: 'BLOCK' }], ...params });

/** Guardrail that replaces `word` with `tag`. */
export const masks = (name: string, word: string, tag: string): object =>
  contentFilter(name, { blocked_words: [{ keyword: word, action: 'MASK' }], keyword_redaction_tag: tag });

export interface PolicyServer extends GuardedApp {
  /** Status and body of a management request. The default key is the key of the administrator. Null sends no key. */
  manage(method: string, path: string, body?: unknown, key?: string | null): Promise<readonly [number, unknown]>;
  /** Creates a key. */
  keyOf(draft: object): Promise<string>;
  /** Creates a read-only administrator. Returns its key. */
  viewerKey(): Promise<string>;
  /** Sends a chat for each name, with `<name>-word`. Returns the names whose chats are refused with 400. */
  blockedWords(
    names: readonly string[],
    members?: object,
    headers?: Record<string, string>,
  ): Promise<readonly string[]>;
}

export async function startPolicies(
  guardrails: readonly object[],
  sections: object = {},
  options: Parameters<typeof startGuarded>[1] = {},
): Promise<PolicyServer> {
  const guarded = await startGuarded(guardrails, { ...options, sections });
  const { app } = guarded;
  return {
    ...guarded,
    async manage(method, path, body, key = app.adminKey) {
      const answer = await fetch(`${app.url}${path}`, {
        method,
        headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      return [answer.status, text === '' ? '' : (JSON.parse(text) as unknown)];
    },
    async keyOf(draft) {
      const made = await app.call('POST', '/key/generate', draft);
      return ((await made.json()) as { readonly key: string }).key;
    },
    async viewerKey() {
      const made = await app.call('POST', '/user/new', { user_role: 'proxy_admin_viewer' });
      return ((await made.json()) as { readonly key: string }).key;
    },
    async blockedWords(names, members = {}, headers = {}) {
      const found: string[] = [];
      for (const name of names) {
        const body = { model: 'chat', messages: [{ role: 'user', content: `a ${name}-word` }], ...members };
        const { status } = await guarded.ask(CHAT, body, headers);
        if (status === 400) found.push(name);
      }
      return found;
    },
  };
}
