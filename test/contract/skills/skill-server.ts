import { expect } from 'vitest';
import { type SkillUpstream, startSkillUpstream } from '../../support/skill-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Answer = readonly [status: number, body: Json];

export const ACCOUNT = 'sk-skill-account';
export const OTHER_ACCOUNT = 'sk-other-skill-account';

const CREATED_AT = '2026-11-30T00:00:00Z';
export const VERSION_ID = expect.stringMatching(/^skillver_01Up\d{20}$/) as string;

/** A skill as the gateway shows it. */
export const shown = (more: Json = {}): Json => ({
  id: expect.stringMatching(/^skill_[\da-f]{32}$/) as string,
  type: 'skill',
  display_name: 'sums',
  latest_version_id: VERSION_ID,
  source: { type: 'custom' },
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  ...more,
});

/** An error in Anthropic's format. */
export const refused = (status: number, type: string, message: unknown): Answer => [
  status,
  { type: 'error', error: { type, message } },
];
export const noSkill = (id: string): Answer => refused(404, 'not_found_error', `Skill with id '${id}' not found.`);
export const TOO_LARGE = refused(413, 'request_too_large', expect.stringContaining('Max size is 1 MB'));
/** Content of a file above the limit of the server. */
export const LARGE = 'x'.repeat(1024 * 1024 + 1);

/** A server whose models are at two accounts of an upstream with skills, and keys of several owners. */
export interface SkillServer {
  readonly app: TestApp;
  readonly upstream: SkillUpstream;
  readonly owner: string;
  readonly stranger: string;
  /** Key of a user that may only read. */
  readonly viewer: string;
  ask(
    method: string,
    path: string,
    body?: unknown,
    key?: string | null,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  newKey(settings?: Json): Promise<string>;
  /** Creates a skill for the owner of a key. Returns our id. */
  newSkill(key?: string, fields?: Readonly<Record<string, string>>): Promise<string>;
  stop(): Promise<void>;
}

/** A form with a skill of one file. */
export function skillForm(fields: Readonly<Record<string, string>> = {}, bytes = 'Add.'): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('files[]', new Blob([bytes]), 'sums/SKILL.md');
  return form;
}

export async function startSkillServer(): Promise<SkillServer> {
  const upstream = await startSkillUpstream();
  const model = (name: string, upstreamModel: string, apiKey: string) => ({
    model_name: name,
    litellm_params: { model: upstreamModel, api_base: upstream.url, api_key: apiKey },
  });
  const app = await startApp({
    config: {
      general_settings: { max_file_size_mb: 1 },
      model_list: [
        model('tiny', 'openai/tiny-1', ACCOUNT),
        model('claude', 'anthropic/claude-x', ACCOUNT),
        model('both', 'anthropic/claude-x', OTHER_ACCOUNT),
        model('both', 'anthropic/claude-x', ACCOUNT),
        model('elsewhere', 'anthropic/claude-x', OTHER_ACCOUNT),
        model('wild/*', 'anthropic/*', ACCOUNT),
      ],
    },
  });
  let owner = '';
  async function ask(
    method: string,
    path: string,
    body?: unknown,
    key: string | null = owner,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const isRaw = body instanceof FormData || typeof body === 'string';
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(isRaw || body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    });
    return [answer.status, (await answer.json()) as Json];
  }
  const newKey = async (settings: Json = {}): Promise<string> =>
    String((await ask('POST', '/key/generate', settings, app.adminKey))[1]['key']);
  owner = await newKey();
  const stranger = await newKey();
  const [, created] = await ask('POST', '/user/new', { user_id: 'v', user_role: 'internal_user_viewer' }, app.adminKey);
  return {
    app,
    upstream,
    owner,
    stranger,
    viewer: String(created['key']),
    ask,
    newKey,
    newSkill: async (key, fields) => String((await ask('POST', '/v1/skills', skillForm(fields), key))[1]['id']),
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}
