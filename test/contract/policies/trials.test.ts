import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, type Json, type PolicyServer, startPolicies } from './policy-server.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
const ID = expect.stringMatching(/^[\da-f-]{36}$/) as string;

let server: PolicyServer;
const quiet = blocks('quiet', { skip_system_message_in_guardrail: true });
beforeAll(async () => {
  server = await startPolicies([blocks('one'), blocks('two'), quiet], {
    policies: { filed: { description: 'of the file', guardrails: { add: ['one'] } } },
    policy_attachments: [{ policy: 'filed', teams: ['nobody'] }],
  });
});
afterAll(() => server.stop());

/** A stored policy in force. */
const policyOf = (members: Json): Json => ({
  policy_id: ID,
  version_number: 1,
  version_status: 'production',
  parent_version_id: null,
  is_latest: true,
  published_at: null,
  production_at: TIME,
  inherit: null,
  description: null,
  guardrails_add: [],
  guardrails_remove: [],
  condition: {},
  pipeline: null,
  created_at: TIME,
  updated_at: TIME,
  created_by: 'default_user_id',
  updated_by: 'default_user_id',
  definition_location: 'db',
  ...members,
});
/** Stores a policy. Returns its id. */
const create = async (name: string, members: Json = {}): Promise<string> => {
  const [status, body] = await server.manage('POST', '/policies', { policy_name: name, ...members });
  expect(status).toBe(200);
  return String((body as Json)['policy_id']);
};
const missing = (...names: readonly string[]) => [
  422,
  { detail: names.map((name) => ({ type: 'missing', loc: ['body', name], msg: 'Field required' })) },
];

describe('comparisons and trials of policies', () => {
  it('policies.compare 200: the members in which two versions differ', async () => {
    const first = await create('compared', { guardrails_add: ['one'], description: 'a' });
    const second = await create('other', { guardrails_add: ['two'], description: 'a' });
    const compare = (search: string) => server.manage('GET', `/policies/compare?${search}`);
    expect(await compare(`version_a=${first}&version_b=${second}`)).toEqual([
      200,
      {
        version_a: policyOf({ policy_name: 'compared', guardrails_add: ['one'], description: 'a' }),
        version_b: policyOf({ policy_name: 'other', guardrails_add: ['two'], description: 'a' }),
        field_diffs: { guardrails_add: { version_a: ['one'], version_b: ['two'] } },
      },
    ]);
    const [, same] = await compare(`version_a=${first}&version_b=${first}`);
    expect(same).toMatchObject({ field_diffs: {} });
  });

  it('policies.compare 404: an unknown version; 422: no version; 401: no key', async () => {
    const path = '/policies/compare?version_a=filed&version_b=nope';
    expect(await server.manage('GET', path)).toEqual([404, { detail: 'Policy with ID nope not found' }]);
    expect(await server.manage('GET', '/policies/compare?version_a=filed')).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['query', 'version_b'], msg: 'Field required' }] },
    ]);
    expect((await server.manage('GET', path, undefined, null))[0]).toBe(401);
  });

  it('policies.match 200, policies.match 422: policies and guardrails of a call', async () => {
    const none = { team_alias: null, key_alias: null, model: null, tags: null };
    expect(await server.manage('POST', '/policy/test', {})).toEqual([
      200,
      { context: none, matching_policies: [], resolved_guardrails: [], message: null },
    ]);
    expect(await server.manage('POST', '/policy/test', { team_alias: 'nobody', model: 'm', tags: ['t'] })).toEqual([
      200,
      {
        context: { ...none, team_alias: 'nobody', model: 'm', tags: ['t'] },
        matching_policies: ['filed'],
        resolved_guardrails: ['one'],
        message: null,
      },
    ]);
    expect(await server.manage('POST', '/policy/test', { model: 1 })).toEqual([
      422,
      { detail: [{ type: 'string_type', loc: ['body', 'model'], msg: 'Input should be a valid string' }] },
    ]);
  });

  it('policies.testPipeline 200: the steps that ran, and how a call would go on', async () => {
    const send = (steps: readonly Json[], mode = 'pre_call') =>
      server.manage('POST', '/policies/test-pipeline', {
        pipeline: { mode, steps },
        test_messages: [{ role: 'user', content: 'a two-word' }],
      });
    const step = (guardrail: string, outcome: string, action: string, error: string | null = null): Json => ({
      guardrail_name: guardrail,
      outcome,
      action_taken: action,
      modified_data: null,
      error_detail: error,
      duration_seconds: expect.any(Number) as number,
    });
    const blocked = expect.stringContaining('two-word') as string;
    expect(await send([{ guardrail: 'one', on_pass: 'next' }, { guardrail: 'two' }])).toEqual([
      200,
      {
        terminal_action: 'block',
        step_results: [step('one', 'pass', 'next'), step('two', 'fail', 'block', blocked)],
        modified_data: null,
        error_message: blocked,
        modify_response_message: null,
      },
    ]);
    const answered = { guardrail: 'two', on_fail: 'modify_response', modify_response_message: 'no' };
    const [, body] = await send([answered]);
    expect(body).toMatchObject({
      terminal_action: 'modify_response',
      modify_response_message: 'no',
      error_message: null,
    });
    const unknown = { guardrail: 'nope', on_error: 'allow' };
    const [, skipped] = await send([unknown], 'post_call');
    expect(skipped).toMatchObject({
      terminal_action: 'allow',
      step_results: [step('nope', 'error', 'allow', "Guardrail 'nope' not found")],
    });
  });

  it('policies.testPipeline 200: a guardrail does not check the texts that it leaves out of calls', async () => {
    const endFor = async (role: string): Promise<unknown> => {
      const [, body] = await server.manage('POST', '/policies/test-pipeline', {
        pipeline: { mode: 'pre_call', steps: [{ guardrail: 'quiet' }] },
        test_messages: [
          { role, content: 'a quiet-word' },
          { role: 'user', content: 'hi' },
        ],
      });
      return (body as Json)['terminal_action'];
    };
    expect([await endFor('system'), await endFor('user')]).toEqual(['allow', 'block']);
  });

  it('policies.testPipeline 400: a wrong pipeline; 401, 403: who may not; 422: no messages', async () => {
    const path = '/policies/test-pipeline';
    const valid = { pipeline: { mode: 'pre_call', steps: [{ guardrail: 'one' }] }, test_messages: [] };
    const [status, body] = await server.manage('POST', path, { ...valid, pipeline: { mode: 'x', steps: [] } });
    expect([status, body]).toEqual([400, { detail: 'pipeline.mode must be one of pre_call, post_call' }]);
    expect((await server.manage('POST', path, valid, null))[0]).toBe(401);
    expect((await server.manage('POST', path, valid, await server.viewerKey()))[0]).toBe(403);
    expect(await server.manage('POST', path, { ...valid, test_messages: [{ role: 'user' }] })).toEqual([
      400,
      { detail: 'content of test_messages must be a text' },
    ]);
    expect(await server.manage('POST', path, {})).toEqual(missing('pipeline', 'test_messages'));
  });
});
