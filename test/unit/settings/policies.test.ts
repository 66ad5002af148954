import { describe, expect, it } from 'vitest';
import { faultsFrom } from '../../support/read-settings.ts';

describe('policies and prompts of the file', () => {
  it('with wrong values are faults with the path of the value', () => {
    const yaml = `policies:
  a: { inherit: b }
  b: { inherit: a }
  c: { condition: { model: '(' } }
  d: { pipeline: { mode: pre_call, steps: [] } }
policy_attachments:
  - { policy: a }
  - { policy: a, scope: '*', teams: [t] }
prompts:
  - prompt_id: p
    litellm_params: { prompt_integration: dotprompt, dotprompt_content: '{% if %}' }
  - prompt_id: q
    litellm_params: { prompt_integration: langfuse }
`;
    expect(faultsFrom({ yaml }).map((fault) => fault.replace(/^config\.yaml:\d+: /, ''))).toEqual([
      "policies.a.inherit: the inheritance of 'a' has a cycle at 'a'",
      "policies.b.inherit: the inheritance of 'b' has a cycle at 'b'",
      'policies.c: condition.model "(" is not a valid RE2 expression',
      'policies.d: pipeline.steps must be a list of 1 to 50 steps',
      "policy_attachments.0: An attachment needs scope '*', default, or at least one of teams, keys, models and tags",
      "policy_attachments.1: scope '*' applies to every call: leave out scope, or teams, keys, models and tags",
      'prompts.1.litellm_params.prompt_integration: Invalid input: expected "dotprompt"',
    ]);
  });

  it('accept a parent that is possibly stored, whatever its name', () => {
    expect(faultsFrom({ yaml: 'policies:\n  a: { inherit: lifecycle }\n' })).toEqual([]);
  });

  it('with a statement in a template are a fault with its line', () => {
    const yaml = `prompts:
  - prompt_id: p
    litellm_params: { prompt_integration: dotprompt, dotprompt_content: '{% if %}' }
`;
    expect(faultsFrom({ yaml })).toEqual([
      'config.yaml:2: prompts.0: The template has a statement. Only {{variable}} is supported.',
    ]);
  });
});
