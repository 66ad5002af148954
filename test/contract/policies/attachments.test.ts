import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, type Json, type PolicyServer, startPolicies } from './policy-server.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
const ID = expect.stringMatching(/^[\da-f-]{36}$/) as string;

let server: PolicyServer;
beforeAll(async () => {
  server = await startPolicies([blocks('one'), blocks('two')], {
    policies: { filed: { guardrails: { add: ['one'] } } },
    policy_attachments: [{ policy: 'filed', teams: ['nobody'] }],
  });
});
afterAll(() => server.stop());

describe('attachments over HTTP', () => {
  const attachment = (members: Json): Json => ({
    attachment_id: ID,
    scope: null,
    teams: [],
    keys: [],
    models: [],
    tags: [],
    priority: null,
    default: false,
    created_at: TIME,
    updated_at: TIME,
    created_by: 'default_user_id',
    updated_by: 'default_user_id',
    definition_location: 'db',
    ...members,
  });

  it('policyAttachments.create 200, policyAttachments.get 200, policyAttachments.get 404, policyAttachments.list 200, policyAttachments.delete 200, policyAttachments.delete 404: an attachment applies until it is deleted', async () => {
    await server.manage('POST', '/policies', { policy_name: 'everywhere', guardrails_add: ['two'] });
    const made = attachment({ policy_name: 'everywhere', scope: '*' });
    const [status, body] = await server.manage('POST', '/policies/attachments', {
      policy_name: 'everywhere',
      scope: '*',
    });
    expect([status, body]).toEqual([200, made]);
    const id = String((body as Json)['attachment_id']);
    expect(await server.blockedWords(['one', 'two'])).toEqual(['two']);
    expect(await server.manage('GET', `/policies/attachments/${id}`)).toEqual([200, body]);
    const filed = attachment({
      attachment_id: 'config-attachment-0',
      policy_name: 'filed',
      teams: ['nobody'],
      created_at: null,
      updated_at: null,
      created_by: null,
      updated_by: null,
      definition_location: 'config',
    });
    expect(await server.manage('GET', '/policies/attachments/list')).toEqual([
      200,
      { attachments: [filed, body], total_count: 2 },
    ]);
    expect(await server.manage('DELETE', `/policies/attachments/${id}`)).toEqual([
      200,
      { message: `Attachment ${id} deleted successfully` },
    ]);
    const gone = [404, { detail: `Attachment with ID ${id} not found` }];
    expect(await server.manage('DELETE', `/policies/attachments/${id}`)).toEqual(gone);
    expect(await server.manage('GET', `/policies/attachments/${id}`)).toEqual(gone);
    expect(await server.blockedWords(['one', 'two'])).toEqual([]);
  });

  it('policyAttachments.create 400, policyAttachments.create 404, policyAttachments.create 422: an unknown policy, faulty rules and a missing policy_name', async () => {
    const attach = (members: Json) =>
      server.manage('POST', '/policies/attachments', { policy_name: 'filed', ...members });
    expect(await attach({ policy_name: 'nope', scope: '*' })).toEqual([
      404,
      { detail: "Policy 'nope' not found. Create the policy first." },
    ]);
    expect(await attach({})).toEqual([
      400,
      { detail: "An attachment needs scope '*', default, or at least one of teams, keys, models and tags" },
    ]);
    expect(await attach({ scope: 'team' })).toEqual([400, { detail: "scope must be '*', or absent" }]);
    expect(await attach({ scope: '*', teams: ['a'] })).toEqual([
      400,
      { detail: "scope '*' applies to every call: leave out scope, or teams, keys, models and tags" },
    ]);
    expect(await server.manage('POST', '/policies/attachments', {})).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['body', 'policy_name'], msg: 'Field required' }] },
    ]);
  });

  it('policyAttachments.delete 400: an attachment of the configuration file', async () => {
    expect(await server.manage('DELETE', '/policies/attachments/config-attachment-0')).toEqual([
      400,
      {
        detail: "Attachment 'config-attachment-0' is defined in the configuration file and can only be changed there",
      },
    ]);
  });
});
