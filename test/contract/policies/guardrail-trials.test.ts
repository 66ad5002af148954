import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, type Json, masks, NO_KEY, type PolicyServer, startPolicies, VIEWER_REFUSED } from './policy-server.ts';

let server: PolicyServer;
beforeAll(async () => {
  server = await startPolicies([blocks('one'), masks('two', 'secret', '[gone]'), blocks('step')], {
    policies: {
      filed: { guardrails: { add: ['one', 'two'] } },
      piped: { guardrails: { add: [] }, pipeline: { mode: 'pre_call', steps: [{ guardrail: 'step' }] } },
    },
  });
});
afterAll(() => server.stop());

const PATH = '/utils/test_policies_and_guardrails';
const trial = (body: Json, key?: string | null) => server.manage('POST', PATH, body, key);
const BLOCKED = expect.stringContaining('one-word') as string;

describe('trials of guardrails', () => {
  it('policies.testGuardrails 200: all guardrails of a policy run on each input', async () => {
    const inputs = [{ texts: ['a one-word', 'a secret'], images: ['i'] }, { texts: ['fine'] }];
    expect(await trial({ policy_names: ['filed'], inputs_list: inputs })).toEqual([
      200,
      {
        results: [
          {
            inputs: { texts: ['a one-word', 'a [gone]'], images: ['i'] },
            guardrail_errors: [{ guardrail_name: 'one', message: BLOCKED }],
          },
          { inputs: { texts: ['fine'] }, guardrail_errors: [] },
        ],
      },
    ]);
  });

  it('policies.testGuardrails 200: named guardrails, steps of a pipeline and an unknown guardrail', async () => {
    const inputs_list = [{ texts: ['a step-word'] }];
    const [status, body] = await trial({ policy_names: ['piped'], guardrail_names: ['nope', 'step'], inputs_list });
    expect([status, body]).toEqual([
      200,
      {
        results: [
          {
            inputs: { texts: ['a step-word'] },
            guardrail_errors: [
              { guardrail_name: 'step', message: expect.stringContaining('step-word') as string },
              { guardrail_name: 'nope', message: "Guardrail 'nope' not found" },
            ],
          },
        ],
      },
    ]);
    expect(await trial({})).toEqual([200, { results: [] }]);
    expect(
      await trial({ guardrail_names: ['two'], input_type: 'response', inputs_list: [{ texts: ['secret'] }] }),
    ).toEqual([200, { results: [{ inputs: { texts: ['[gone]'] }, guardrail_errors: [] }] }]);
  });

  it('policies.testGuardrails 400: a call of a model, and too many inputs', async () => {
    expect(await trial({ agent_id: 'm' })).toEqual([
      400,
      { detail: 'agent_id is not supported: a trial calls no model. Leave agent_id out.' },
    ]);
    expect(await trial({ inputs_list: Array.from({ length: 101 }, () => ({ texts: [] })) })).toEqual([
      400,
      { detail: 'inputs_list can have at most 100 inputs' },
    ]);
  });

  it('policies.testGuardrails 401, policies.testGuardrails 403, policies.testGuardrails 404: who may not, and an unknown policy', async () => {
    expect(await trial({}, null)).toEqual([401, NO_KEY]);
    expect(await trial({}, await server.viewerKey())).toEqual([403, VIEWER_REFUSED]);
    expect(await trial({ policy_names: ['nope'], inputs_list: [{ texts: [] }] })).toEqual([
      404,
      { detail: "Policy 'nope' not found" },
    ]);
  });

  it('policies.testGuardrails 422: texts that are no texts', async () => {
    expect(await trial({ inputs_list: [{ texts: [1] }] })).toEqual([
      422,
      {
        detail: [
          {
            type: 'string_type',
            loc: ['body', 'inputs_list', 0, 'texts'],
            msg: 'Input should be a valid string',
          },
        ],
      },
    ]);
  });
});
