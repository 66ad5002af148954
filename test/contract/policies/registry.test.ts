import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, type Json, type PolicyServer, startPolicies } from './policy-server.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
const ID = expect.stringMatching(/^[\da-f-]{36}$/) as string;

let server: PolicyServer;
beforeAll(async () => {
  server = await startPolicies([blocks('one'), blocks('two')], {
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
const FILED = policyOf({
  policy_id: 'filed',
  policy_name: 'filed',
  description: 'of the file',
  guardrails_add: ['one'],
  production_at: null,
  created_at: null,
  updated_at: null,
  created_by: null,
  updated_by: null,
  definition_location: 'config',
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
const noPolicy = (id: string) => [404, { detail: `Policy with ID ${id} not found` }];

describe('policies over HTTP', () => {
  it('policies.create 200, policies.get 200: a stored policy has the sent members', async () => {
    const sent = { policy_name: 'made', description: 'd', guardrails_add: ['one'], condition: { model: 'chat' } };
    const made = policyOf({ ...sent });
    expect(await server.manage('POST', '/policies', sent)).toEqual([200, made]);
    const [, listed] = await server.manage('GET', '/policies/list');
    const { policies } = listed as { readonly policies: readonly Json[] };
    expect(policies).toEqual([FILED, made]);
    expect(listed).toMatchObject({ total_count: 2 });
    const id = String(policies[1]?.['policy_id']);
    expect(await server.manage('GET', `/policies/${id}`)).toEqual([200, made]);
    expect(await server.manage('GET', '/policies/filed')).toEqual([200, FILED]);
  });

  it('policies.create 400: invalid names, guardrails, parents, conditions and pipelines', async () => {
    await create('taken');
    const refused = async (members: Json): Promise<unknown> => {
      const [status, body] = await server.manage('POST', '/policies', { policy_name: 'wrong', ...members });
      return [status, (body as Json)['detail']];
    };
    expect(await refused({ policy_name: 'taken' })).toEqual([400, "Policy with name 'taken' already exists"]);
    expect(await refused({ policy_name: 'filed' })).toEqual([400, "Policy with name 'filed' already exists"]);
    expect(await refused({ guardrails_add: ['gone'] })).toEqual([400, "The guardrail 'gone' does not exist."]);
    expect(await refused({ inherit: 'gone' })).toEqual([
      400,
      "inherit: the parent policy 'gone' of 'wrong' is not in force",
    ]);
    expect(await refused({ inherit: 'wrong' })).toEqual([
      400,
      "inherit: the inheritance of 'wrong' has a cycle at 'wrong'",
    ]);
    expect(await refused({ condition: { model: '(' } })).toEqual([
      400,
      'condition.model "(" is not a valid RE2 expression',
    ]);
    expect(await refused({ condition: { team: 'x' } })).toEqual([
      400,
      'condition.team is not supported: only model is',
    ]);
    expect(await refused({ pipeline: { mode: 'later', steps: [] } })).toEqual([
      400,
      'pipeline.mode must be one of pre_call, post_call',
    ]);
    expect(await refused({ pipeline: { mode: 'pre_call', steps: [{ guardrail: 'one', on_fail: 'stop' }] } })).toEqual([
      400,
      'pipeline.steps.0.on_fail must be one of next, allow, block, modify_response',
    ]);
    expect(await refused({ policy_name: 'a\nb' })).toEqual([
      400,
      'policy_name must have 1 to 256 characters, no control character and no unpaired surrogate',
    ]);
  });

  it('policies.create 422, policies.check 422, policies.setStatus 422, policies.update 422, policies.createVersion 422: missing members and wrong types', async () => {
    expect(await server.manage('POST', '/policies', {})).toEqual(missing('policy_name'));
    expect(await server.manage('POST', '/policy/validate', {})).toEqual(missing('policies'));
    const id = await create('statusless');
    expect(await server.manage('PUT', `/policies/${id}/status`, {})).toEqual(missing('version_status'));
    expect((await server.manage('POST', '/policies/name/statusless/versions', { source_policy_id: 1 }))[0]).toBe(422);
    const texts = [{ type: 'list_type', loc: ['body', 'guardrails_add'], msg: 'Input should be a valid list' }];
    expect(await server.manage('PUT', `/policies/${id}`, { guardrails_add: 'one' })).toEqual([422, { detail: texts }]);
  });

  it('policies.createVersion 200, policies.update 200, policies.setStatus 200: a draft replaces the version in force', async () => {
    const first = await create('grown', { guardrails_add: ['one'] });
    const [status, draft] = await server.manage('POST', '/policies/name/grown/versions', {});
    expect([status, draft]).toEqual([
      200,
      policyOf({
        policy_name: 'grown',
        version_number: 2,
        version_status: 'draft',
        parent_version_id: first,
        production_at: null,
        guardrails_add: ['one'],
      }),
    ]);
    const second = String((draft as Json)['policy_id']);
    const changed = { ...(draft as Json), guardrails_add: ['two'], updated_at: TIME };
    expect(await server.manage('PUT', `/policies/${second}`, { guardrails_add: ['two'] })).toEqual([200, changed]);
    expect(await server.blockedWords(['one', 'two'], { policies: ['grown'] })).toEqual(['one']);
    const early = await server.manage('PUT', `/policies/${second}/status`, { version_status: 'production' });
    expect(early).toEqual([
      400,
      { detail: "Invalid status transition from 'draft' to 'production'. Possible: published." },
    ]);
    for (const version_status of ['published', 'production'])
      expect((await server.manage('PUT', `/policies/${second}/status`, { version_status }))[0]).toBe(200);
    expect(await server.blockedWords(['one', 'two'], { policies: ['grown'] })).toEqual(['two']);
    const [, versions] = await server.manage('GET', '/policies/name/grown/versions');
    expect(versions).toMatchObject({
      policy_name: 'grown',
      total_count: 2,
      versions: [
        { version_number: 2, version_status: 'production', is_latest: true, published_at: TIME, production_at: TIME },
        { version_number: 1, version_status: 'published', is_latest: false },
      ],
    });
    const frozen = await server.manage('PUT', `/policies/${second}`, { description: 'x' });
    expect(frozen).toEqual([
      400,
      { detail: "Only draft versions can be updated. Current status: 'production'. Create a new version first." },
    ]);
  });

  it('policies.list 200, policies.list 422: versions with a status, and an unknown status', async () => {
    const [, drafts] = await server.manage('GET', '/policies/list?version_status=draft');
    expect(drafts).toEqual({ policies: [], total_count: 0 });
    expect((await server.manage('GET', '/policies/list?version_status=x'))[0]).toBe(422);
  });

  it('policies.delete 200, policies.delete 404, policies.get 404, policies.update 404, policies.setStatus 404, policies.guardrails 404, policies.createVersion 404: after the deletion of the policy, which has a warning', async () => {
    const id = await create('short');
    expect(await server.manage('DELETE', `/policies/${id}`)).toEqual([
      200,
      {
        message: `Policy ${id} deleted successfully`,
        warning:
          'Production version was deleted. No other version was promoted. Promote another version to production if this policy should remain active.',
      },
    ]);
    expect(await server.manage('DELETE', `/policies/${id}`)).toEqual(noPolicy(id));
    expect(await server.manage('GET', `/policies/${id}`)).toEqual(noPolicy(id));
    expect(await server.manage('PUT', `/policies/${id}`, {})).toEqual(noPolicy(id));
    expect(await server.manage('PUT', `/policies/${id}/status`, { version_status: 'draft' })).toEqual(noPolicy(id));
    expect(await server.manage('GET', `/policies/${id}/resolved-guardrails`)).toEqual(noPolicy(id));
    expect(await server.manage('POST', '/policies/name/short/versions', {})).toEqual([
      404,
      { detail: "No production version found for policy 'short'" },
    ]);
  });

  it('policies.deleteVersions 200, policies.deleteVersions 404, policies.versions 200: all versions of a policy are deleted at once', async () => {
    await create('whole');
    await server.manage('POST', '/policies/name/whole/versions', {});
    expect(await server.manage('DELETE', '/policies/name/whole/all-versions')).toEqual([
      200,
      { message: "All versions of policy 'whole' deleted successfully" },
    ]);
    expect(await server.manage('DELETE', '/policies/name/whole/all-versions')).toEqual([
      404,
      { detail: "Policy 'whole' not found" },
    ]);
    expect(await server.manage('GET', '/policies/name/whole/versions')).toEqual([
      200,
      { policy_name: 'whole', versions: [], total_count: 0 },
    ]);
  });

  it('policies.delete 400, policies.update 400, policies.setStatus 400, policies.deleteVersions 400, policies.createVersion 400: a policy of the configuration file', async () => {
    const detail = "Policy 'filed' is defined in the configuration file and can only be changed there";
    const answers = await Promise.all([
      server.manage('DELETE', '/policies/filed'),
      server.manage('PUT', '/policies/filed', { description: 'x' }),
      server.manage('PUT', '/policies/filed/status', { version_status: 'draft' }),
      server.manage('DELETE', '/policies/name/filed/all-versions'),
      server.manage('POST', '/policies/name/filed/versions', {}),
    ]);
    expect(answers).toEqual(answers.map(() => [400, { detail }]));
  });

  it('policies.guardrails 200, policies.info 200, policies.info 404, policies.names 200, policies.templates 200: inherited and added guardrails, names, and no templates', async () => {
    const id = await create('child', { inherit: 'filed', guardrails_add: ['two'] });
    expect(await server.manage('GET', `/policies/${id}/resolved-guardrails`)).toEqual([
      200,
      { policy_id: id, policy_name: 'child', resolved_guardrails: ['one', 'two'] },
    ]);
    const shown = policyOf({ policy_name: 'child', inherit: 'filed', guardrails_add: ['two'] });
    expect(await server.manage('GET', '/policy/info/child')).toEqual([
      200,
      { ...shown, resolved_guardrails: ['one', 'two'] },
    ]);
    expect(await server.manage('GET', '/policy/info/nope')).toEqual([404, { detail: "Policy 'nope' not found" }]);
    const [, named] = await server.manage('GET', '/policy/list');
    expect((named as { readonly policies: readonly string[] }).policies).toContain('child');
    expect(await server.manage('GET', '/policy/templates')).toEqual([200, []]);
  });

  it('policies.guardrails 200, policies.info 200: guardrails of a policy with a condition', async () => {
    const id = await create('conditional', { guardrails_add: ['one'], condition: { model: 'some-model' } });
    const [, resolved] = await server.manage('GET', `/policies/${id}/resolved-guardrails`);
    expect(resolved).toMatchObject({ resolved_guardrails: ['one'] });
    const [, shown] = await server.manage('GET', '/policy/info/conditional');
    expect(shown).toMatchObject({ resolved_guardrails: ['one'] });
  });

  it('policies.guardrails 400: the parent is not in force', async () => {
    const parent = await create('parent');
    const child = await create('heir', { inherit: 'parent' });
    await server.manage('DELETE', `/policies/${parent}`);
    expect(await server.manage('GET', `/policies/${child}/resolved-guardrails`)).toEqual([
      400,
      { detail: "inherit: the parent policy 'parent' of 'heir' is not in force" },
    ]);
  });

  it('policies.check 200: faults of entries in the form of the configuration file', async () => {
    expect(await server.manage('POST', '/policy/validate', { policies: {} })).toEqual([
      200,
      { valid: true, errors: [], warnings: [] },
    ]);
    const policies = {
      a: { inherit: 'b', guardrails: { add: ['gone'], remove: ['lost'] } },
      b: { inherit: 'a' },
      c: { inherit: 'nope' },
      e: { inherit: 'lifecycle' },
      d: { unknown: 1 },
    };
    const fault = (policy_name: string, error_type: string, message: string, members: Json = {}) => ({
      policy_name,
      error_type,
      message,
      field: 'inherit',
      value: null,
      ...members,
    });
    expect(await server.manage('POST', '/policy/validate', { policies })).toEqual([
      200,
      {
        valid: false,
        errors: [
          fault('d', 'invalid_syntax', 'unknown is not a member of a policy', { field: null }),
          fault('a', 'invalid_guardrail', "Guardrail 'gone' not found in guardrail registry", {
            field: 'guardrails.add',
            value: 'gone',
          }),
          fault('a', 'circular_inheritance', "the inheritance of 'a' has a cycle at 'a'"),
          fault('b', 'circular_inheritance', "the inheritance of 'b' has a cycle at 'b'"),
          fault('c', 'invalid_inheritance', "the parent policy 'nope' of 'c' is not in force"),
          fault('e', 'invalid_inheritance', "the parent policy 'lifecycle' of 'e' is not in force"),
        ],
        warnings: [
          fault('a', 'invalid_guardrail', "Guardrail 'lost' not found in guardrail registry", {
            field: 'guardrails.remove',
            value: 'lost',
          }),
        ],
      },
    ]);
  });

  it('policies.resolve 200, policies.resolve 422: policies and guardrails of a call', async () => {
    expect(await server.manage('POST', '/policies/resolve', {})).toEqual([
      200,
      { effective_guardrails: [], matched_policies: [] },
    ]);
    expect(await server.manage('POST', '/policies/resolve', { team_alias: 'nobody', model: 'm' })).toEqual([
      200,
      {
        effective_guardrails: ['one'],
        matched_policies: [{ policy_name: 'filed', matched_via: 'team:nobody', guardrails_added: ['one'] }],
      },
    ]);
    expect((await server.manage('POST', '/policies/resolve', { tags: 'x' }))[0]).toBe(422);
  });

  it('policies.use 200: runs of the guardrails of policies', async () => {
    expect(await server.manage('GET', '/policies/usage/overview?start_date=2020-01-01&end_date=2020-01-02')).toEqual([
      200,
      {
        rows: expect.arrayContaining([
          {
            id: 'filed',
            name: 'filed',
            type: 'Policy',
            provider: 'Policy',
            requestsEvaluated: 0,
            failRate: 0,
            avgScore: null,
            avgLatency: null,
            status: 'healthy',
            trend: 'stable',
          },
        ]) as unknown,
        chart: [],
        totalRequests: 0,
        totalBlocked: 0,
        passRate: 100,
        totalUsageUnits: {},
        totalCost: null,
        totalUntrackedUsageUnits: {},
      },
    ]);
  });
});
