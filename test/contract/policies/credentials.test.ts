import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, CHAT, NO_KEY, type PolicyServer, startPolicies, VIEWER_REFUSED } from './policy-server.ts';

let server: PolicyServer;
let userKey: string;
let viewerKey: string;
beforeAll(async () => {
  server = await startPolicies([blocks('one')], {
    policies: { filed: { guardrails: { add: ['one'] } } },
    policy_attachments: [{ policy: 'filed', teams: ['nobody'] }],
  });
  userKey = await server.keyOf({});
  viewerKey = await server.viewerKey();
});
afterAll(() => server.stop());

const ROUTES: readonly (readonly [name: string, method: string, path: string, body?: object])[] = [
  ['policies.list', 'GET', '/policies/list'],
  ['policies.names', 'GET', '/policy/list'],
  ['policies.templates', 'GET', '/policy/templates'],
  ['policies.info', 'GET', '/policy/info/filed'],
  ['policies.check', 'POST', '/policy/validate', { policies: {} }],
  ['policies.use', 'GET', '/policies/usage/overview'],
  ['policies.create', 'POST', '/policies', { policy_name: 'x' }],
  ['policies.resolve', 'POST', '/policies/resolve', {}],
  ['policies.versions', 'GET', '/policies/name/filed/versions'],
  ['policies.createVersion', 'POST', '/policies/name/filed/versions', {}],
  ['policies.deleteVersions', 'DELETE', '/policies/name/filed/all-versions'],
  ['policies.setStatus', 'PUT', '/policies/filed/status', { version_status: 'draft' }],
  ['policies.guardrails', 'GET', '/policies/filed/resolved-guardrails'],
  ['policies.get', 'GET', '/policies/filed'],
  ['policies.update', 'PUT', '/policies/filed', {}],
  ['policies.delete', 'DELETE', '/policies/filed'],
  ['policyAttachments.list', 'GET', '/policies/attachments/list'],
  ['policyAttachments.create', 'POST', '/policies/attachments', { policy_name: 'filed', scope: '*' }],
  ['policyAttachments.get', 'GET', '/policies/attachments/config-attachment-0'],
  ['policyAttachments.delete', 'DELETE', '/policies/attachments/config-attachment-0'],
  ['policies.match', 'POST', '/policy/test', {}],
  ['policyAttachments.estimate', 'POST', '/policies/attachments/estimate-impact', { policy_name: 'x', teams: ['a'] }],
];
/** Names of the routes that change policies or attachments. */
const CHANGING: ReadonlySet<string> = new Set([
  'policies.create',
  'policies.createVersion',
  'policies.deleteVersions',
  'policies.setStatus',
  'policies.update',
  'policies.delete',
  'policyAttachments.create',
  'policyAttachments.delete',
]);
const CHANGES = ROUTES.filter(([name]) => CHANGING.has(name));

describe('credentials of policies', () => {
  it('policies.list 401, policies.names 401, policies.templates 401, policies.info 401, policies.check 401, policies.use 401, policies.create 401, policies.resolve 401: without a key', async () => {
    for (const [, method, path, body] of ROUTES.slice(0, 8))
      expect(await server.manage(method, path, body, null)).toEqual([401, NO_KEY]);
  });

  it('policies.versions 401, policies.createVersion 401, policies.deleteVersions 401, policies.setStatus 401, policies.guardrails 401, policies.get 401, policies.update 401, policies.delete 401: without a key', async () => {
    for (const [, method, path, body] of ROUTES.slice(8, 16))
      expect(await server.manage(method, path, body, null)).toEqual([401, NO_KEY]);
  });

  it('policyAttachments.list 401, policyAttachments.create 401, policyAttachments.get 401, policyAttachments.delete 401: without a key', async () => {
    for (const [, method, path, body] of ROUTES.slice(16, 20))
      expect(await server.manage(method, path, body, null)).toEqual([401, NO_KEY]);
  });

  it('policies.match 401, policyAttachments.estimate 401: without a key', async () => {
    for (const [, method, path, body] of ROUTES.slice(20))
      expect(await server.manage(method, path, body, null)).toEqual([401, NO_KEY]);
  });

  it('401 for all routes with the key of a user', async () => {
    const statuses = await Promise.all(
      ROUTES.map(async ([, method, path, body]) => (await server.manage(method, path, body, userKey))[0]),
    );
    expect(statuses).toEqual(ROUTES.map(() => 401));
  });

  it('policies.create 403, policies.createVersion 403, policies.deleteVersions 403, policies.setStatus 403, policies.update 403, policies.delete 403, policyAttachments.create 403, policyAttachments.delete 403: a read-only administrator', async () => {
    for (const [, method, path, body] of CHANGES)
      expect(await server.manage(method, path, body, viewerKey)).toEqual([403, VIEWER_REFUSED]);
  });

  it('policies check the calls of a key of a user', async () => {
    const { status } = await server.ask(
      CHAT,
      { model: 'chat', messages: [{ role: 'user', content: 'a one-word' }], policies: ['filed'] },
      { authorization: `Bearer ${userKey}` },
    );
    expect(status).toBe(400);
  });
});
