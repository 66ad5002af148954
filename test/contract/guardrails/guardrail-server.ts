import { expect } from 'vitest';
import { startApp } from '../../support/start-app.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Answer = readonly [status: number, body: Json];

export const FILE_PARAMS = { guardrail: 'presidio', mode: 'pre_call', api_key: 'sk-file', default_on: false };
export const PARAMS = {
  guardrail: 'litellm_content_filter',
  mode: 'pre_call',
  blocked_words: [{ keyword: 'bad', action: 'BLOCK' }],
};

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
export const ID = expect.any(String) as string;

/** Stored guardrail in a response. */
export const row = (overrides: Json): Json => ({
  guardrail_id: ID,
  litellm_params: PARAMS,
  guardrail_info: { i: 1 },
  created_at: TIME,
  updated_at: TIME,
  ...overrides,
});

/** Body of an answer about an unknown id. */
export const notFoundBody = (id: string): Json => ({ detail: `Guardrail with ID ${id} not found` });

let draftCount = 0;
/** Name of the latest draft. */
export const latestName = (): string => `g${draftCount}`;
export const aDraft = (overrides: Json = {}): Json => {
  draftCount += 1;
  return { guardrail_name: latestName(), litellm_params: PARAMS, guardrail_info: { i: 1 }, ...overrides };
};

/** Starts a server with one guardrail in its configuration file. */
export async function startGuardrailServer() {
  const app = await startApp({
    config: { guardrails: [{ guardrail_name: 'of-file', litellm_params: FILE_PARAMS, guardrail_info: { a: 1 } }] },
  });

  async function ask(method: string, path: string, body?: unknown, key = app.adminKey): Promise<Answer> {
    const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
    return [answer.status, (await answer.json()) as Json];
  }
  const create = (guardrail: Json): Promise<Answer> => ask('POST', '/guardrails', { guardrail });

  return {
    app,
    ask,
    create,
    /** Creates a guardrail. Returns its id. */
    createAndGetId: async (overrides: Json = {}): Promise<string> =>
      String((await create(aDraft(overrides)))[1]['guardrail_id']),
    /** Id of the guardrail of the configuration file. */
    async idOfFileGuardrail(): Promise<string> {
      const [, { guardrails }] = await ask('GET', '/guardrails/list');
      return String((guardrails as readonly Json[])[0]?.['guardrail_id']);
    },
  };
}

export type GuardrailServer = Awaited<ReturnType<typeof startGuardrailServer>>;
