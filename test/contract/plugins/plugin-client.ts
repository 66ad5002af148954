import { expect } from 'vitest';
import type { TestApp } from '../../support/start-app.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Answer = readonly [status: number, body: unknown];

export const PATH = '/claude-code/plugins';

/** Answer to a request without a key. */
export const NO_KEY: Answer = [401, { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json }];

/** A source. */
export const GITHUB = { source: 'github', repo: 'org/my-plugin' };
/** A plugin with all members. */
export const FULL = {
  name: 'full',
  source: {
    source: 'git-subdir',
    url: 'https://git.test/org/all.git',
    path: 'plugins/full',
    ref: 'v1',
    sha: 'a'.repeat(40),
  },
  version: '1.2.3',
  description: 'Line 1\nLine 2',
  author: { name: 'Team', email: 'team@example.test' },
  homepage: 'https://example.test/full',
  keywords: ['b', 'a'],
  category: 'productivity',
  domain: 'Engineering',
  namespace: 'tools',
};

/** Requests to an app, with its admin key by default. */
export function pluginClient(app: TestApp) {
  async function ask(method: string, path: string, body?: unknown, key: string | null = app.adminKey): Promise<Answer> {
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return [answer.status, (await answer.json()) as unknown];
  }
  const register = (body: unknown, key?: string | null) => ask('POST', PATH, body, key);
  return {
    ask,
    register,
    /** Registers a plugin with the source `GITHUB`. */
    async add(name: string): Promise<void> {
      expect((await register({ name, source: GITHUB }))[0]).toBe(200);
    },
    remove: (name: string) => ask('DELETE', `${PATH}/${name}`),
  };
}
export type PluginClient = ReturnType<typeof pluginClient>;
