import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AuditLogDocument } from '../../graph/generated/graphql.ts';
import { chat, detail, type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';
import { POLLING } from '../../support/polling.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

const { app, get, post, key, send } = tenancyClient({
  config: { general_settings: { demo_model: true } },
  env: { LITELLM_SALT_KEY: 'salt-of-the-audit-log' },
});

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown;
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown;

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly object_id: string;
  readonly before_value: Json | null;
  readonly updated_values: Json | null;
}

async function entries(search: string): Promise<readonly Entry[]> {
  const { status, body } = await get(`/audit?${search}`);
  expect(status).toBe(200);
  return body['audit_logs'] as readonly Entry[];
}

interface LogPage {
  readonly totalCount: number;
  readonly nodes: readonly Json[];
  readonly pageInfo: Readonly<Record<'hasNextPage' | 'hasPreviousPage', boolean>> & { readonly endCursor: string };
}

/** Actions of the entries that match a query, oldest first. */
const actions = async (search: string): Promise<readonly string[]> =>
  (await entries(`${search}&sort_order=asc&page_size=100`)).map(({ action }) => action);

describe('the audit log', () => {
  it('auditLog.list 200, auditLog.get 200: a changed row before and after', async () => {
    await post('/team/new', { team_id: 'audited', team_alias: 'A', max_budget: 2 });
    await post('/team/update', { team_id: 'audited', team_alias: 'B' });
    const { status, body } = await get('/audit?object_id=audited&action=updated');
    const [entry] = body['audit_logs'] as readonly Entry[];
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        audit_logs: [
          {
            id: uuid,
            updated_at: time,
            // The user that the admin key acts as.
            changed_by: 'default_user_id',
            actor: 'default_user_id',
            // Stands for the admin key. Other keys are shown by their hash.
            changed_by_api_key: 'litellm_proxy_master_key',
            action: 'updated',
            table_name: 'LiteLLM_TeamTable',
            object_id: 'audited',
            before_value: entry?.before_value,
            updated_values: { ...entry?.before_value, alias: 'B', updated_at: time },
          },
        ],
        total: 1,
        page: 1,
        page_size: 10,
        total_pages: 1,
      },
    });
    expect(entry?.before_value).toMatchObject({ id: 'audited', alias: 'A', max_budget: 2, created_at: time });
    expect(await get(`/audit/${entry?.id}`)).toEqual({ status: 200, body: entry });
  });

  it('auditLog.list 200: an empty page', async () => {
    expect(await get('/audit?object_id=nothing')).toEqual({
      status: 200,
      body: { audit_logs: [], total: 0, page: 1, page_size: 10, total_pages: 0 },
    });
  });

  it('records blocks, rotations and deletions of keys', async () => {
    const { key: secret, token } = (await post('/key/generate', { key_alias: 'audited-key' })).body;
    await post('/key/block', { key: secret });
    await post('/key/unblock', { key: secret });
    await post(`/key/${String(secret)}/regenerate`, {});
    await post('/key/delete', { key_aliases: ['audited-key'] });
    expect(await actions(`table_name=LiteLLM_VerificationToken&object_key_hash=${String(token)}`)).toEqual([
      'created',
      'blocked',
      'unblocked',
      'rotated',
      'deleted',
    ]);
  });

  it('records the author of a change: user and hash of the key, and the user of litellm-changed-by', async () => {
    const admin = await key({ user_id: 'ada', user_role: 'proxy_admin' });
    await post('/customer/new', { user_id: 'by-ada' }, admin);
    const headers = { authorization: `Bearer ${admin}`, 'litellm-changed-by': 'grace' };
    await (await app().call('POST', '/customer/update', { user_id: 'by-ada', alias: 'x' }, headers)).arrayBuffer();
    await post('/customer/delete', { user_ids: ['by-ada'] }, admin);
    const [created, updated, deleted] = await entries('object_id=by-ada&sort_order=asc');
    const byKey = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
    expect(created).toMatchObject({ changed_by: 'ada', actor: 'ada', changed_by_api_key: byKey, before_value: null });
    expect(updated).toMatchObject({ changed_by: 'grace', actor: 'ada', changed_by_api_key: byKey });
    expect(deleted).toMatchObject({ changed_by: 'ada', action: 'deleted', updated_values: null });
    expect((await entries('changed_by=grace')).map(({ object_id }) => object_id)).toEqual(['by-ada']);
    expect(await entries('object_id=by-ada&changed_by_api_key=litellm_proxy_master_key')).toEqual([]);
    await post('/customer/new', { user_id: 'by-admin-key' });
    const byAdminKey = await entries('object_id=by-admin-key&changed_by_api_key=litellm_proxy_master_key');
    expect(byAdminKey.map(({ action }) => action)).toEqual(['created']);
  });

  it('records nothing for a refused change', async () => {
    await post('/tag/new', { name: 'once' });
    expect((await post('/tag/new', { name: 'once' })).status).toBe(400);
    expect((await post('/team/update', { team_id: 'unknown-team', team_alias: 'x' })).status).toBe(404);
    expect(await actions('object_id=once')).toEqual(['created']);
    expect(await actions('object_id=unknown-team')).toEqual([]);
  });

  it('contains no secrets of keys, credentials, models and settings', async () => {
    const secret = await key({ metadata: { api_token: 'token-in-metadata' } });
    await post('/credentials', {
      credential_name: 'audited-credential',
      credential_values: { api_key: 'provider-secret-1' },
      credential_info: { description: 'd' },
    });
    await post('/model/new', {
      model_name: 'audited-model',
      litellm_params: { model: 'openai/x', api_key: 'provider-secret-2' },
    });
    await post('/config/update', { environment_variables: { SOME_PROVIDER_KEY: 'provider-secret-3' } });
    await post(`/key/${secret}/regenerate`, {});
    const entriesText = JSON.stringify((await get('/audit?page_size=100')).body);
    expect(entriesText).toContain('audited-credential');
    expect(entriesText).toContain('audited-model');
    for (const word of [secret, 'token-in-metadata', 'provider-secret', app().adminKey])
      expect(entriesText).not.toContain(word);
  });

  it('pages and sorts its entries, and filters them by time', async () => {
    for (const name of ['p1', 'p2', 'p3']) await post('/budget/new', { budget_id: name });
    const budgetIds = async (search: string) =>
      (await entries(`table_name=LiteLLM_BudgetTable&${search}`)).map(({ object_id }) => object_id);
    expect(await budgetIds('sort_by=object_id&sort_order=asc&page_size=2')).toEqual(['p1', 'p2']);
    expect(await budgetIds('sort_by=object_id&sort_order=asc&page_size=2&page=2')).toEqual(['p3']);
    const today = new Date().toISOString().slice(0, 10);
    // Without an order, the newest entry is first.
    expect(await budgetIds(`start_date=${today}&end_date=${today}`)).toEqual(['p3', 'p2', 'p1']);
    expect(await budgetIds('end_date=2020-01-01')).toEqual([]);
    expect(await budgetIds('start_date=2099-01-01T00:00:00Z')).toEqual([]);
  });

  it('auditLog.list 422: a malformed page, action, table, order and time', async () => {
    const statusAndLocation = async (search: string) => {
      const { status, body } = await get(`/audit?${search}`);
      return [status, (body['detail'] as readonly { readonly loc: readonly string[] }[])[0]?.loc];
    };
    expect(await statusAndLocation('page=0')).toEqual([422, ['query', 'page']]);
    expect(await statusAndLocation('page_size=101')).toEqual([422, ['query', 'page_size']]);
    expect(await statusAndLocation('action=guessed')).toEqual([422, ['query', 'action']]);
    expect(await statusAndLocation('table_name=guessed')).toEqual([422, ['query', 'table_name']]);
    expect(await statusAndLocation('sort_by=guessed')).toEqual([422, ['query', 'sort_by']]);
    expect(await statusAndLocation('sort_order=up')).toEqual([422, ['query', 'sort_order']]);
    expect(await statusAndLocation('start_date=yesterday')).toEqual([422, ['query', 'start_date']]);
  });

  it('auditLog.get 404: an unknown id', async () => {
    expect(await get('/audit/unknown')).toEqual(detail(404, 'Audit log with ID unknown not found'));
  });

  it('auditLog.list 401, auditLog.get 401: no key, and a key of a user; read-only administrators have access', async () => {
    expect(await get('/audit', '')).toEqual(NO_KEY);
    expect(await get('/audit/x', '')).toEqual(NO_KEY);
    const user = await key({ user_id: 'someone' });
    expect((await get('/audit', user)).status).toBe(401);
    expect((await get('/audit/x', user)).status).toBe(401);
    const viewer = await key({ user_role: 'proxy_admin_viewer' });
    expect((await get('/audit', viewer)).status).toBe(200);
  });

  it('does not record model calls', async () => {
    const entriesBefore = (await get('/audit')).body['total'];
    expect((await post('/v1/chat/completions', chat())).status).toBe(200);
    expect((await get('/audit')).body['total']).toBe(entriesBefore);
  });
});

describe('auditLog in the graph', () => {
  const graph = async (variables: object, secret?: string) =>
    (await send('POST', '/graphql', { query: AuditLogDocument.toString(), variables }, secret)).body;

  it('records mutations, and pages by cursor in both directions', async () => {
    const query = 'mutation { generateKey(input: { alias: "from-the-graph" }) { __typename } }';
    const { body } = await send('POST', '/graphql', { query });
    expect(body).toEqual({ data: { generateKey: { __typename: 'GeneratedKey' } } });
    await post('/organization/new', { organization_alias: 'O' });
    const page = async (variables: object) => {
      const answer = (await graph(variables)) as { readonly data: { readonly auditLog: LogPage } };
      return answer.data.auditLog;
    };
    const { nodes, totalCount } = await page({ first: 100 });
    expect(nodes).toHaveLength(Math.min(100, totalCount));
    expect(nodes.find(({ noun, action }) => noun === 'KEY' && action === 'CREATED')).toMatchObject({
      changedBy: 'default_user_id',
      changedByKey: null,
      before: null,
      after: { alias: 'from-the-graph' },
    });
    const firstPage = await page({ first: 2 });
    const secondPage = await page({ first: 2, after: firstPage.pageInfo.endCursor });
    const lastPage = await page({ last: 2 });
    expect([...firstPage.nodes, ...secondPage.nodes]).toEqual(nodes.slice(0, 4));
    expect([firstPage.pageInfo.hasNextPage, firstPage.pageInfo.hasPreviousPage]).toEqual([true, false]);
    expect(lastPage.nodes).toEqual(nodes.slice(-2));
  });

  it('is refused for users', async () => {
    const body = await graph({}, await key({ user_id: 'someone-else' }));
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  });
});

describe('changes by background tasks', () => {
  it('have the task as author, for example the reset of a budget window', async () => {
    await post('/team/new', { team_id: 'resets', max_budget: 1, budget_duration: '1s' });
    const secret = await key({ key_alias: 'resets', max_budget: 1, budget_duration: '1s' });
    expect(secret).toMatch(/^sk-/);
    /** Whether the end of the budget window changed, by entry. `table` is a table or a noun, for example `team`. */
    const windowChanges = async (table: string, search: string) =>
      (await entries(`table_name=${table}&action=updated&${search}`)).map(
        ({ before_value, updated_values }) => before_value?.['budget_reset_at'] !== updated_values?.['budget_reset_at'],
      );
    await vi.waitFor(
      async () => {
        expect((await windowChanges('team', 'object_id=resets&changed_by=system: owner-windows'))[0]).toBe(true);
        expect((await windowChanges('key', 'changed_by=system: budget-windows'))[0]).toBe(true);
      },
      { ...POLLING, interval: 200 },
    );
  });
});

describe('an invitation', () => {
  it('is recorded when it is created, accepted and deleted', async () => {
    await post('/user/new', { user_id: 'invited', auto_create_key: false });
    const { body } = await post('/invitation/new', { user_id: 'invited' });
    const id = String(body['id']);
    expect((await post('/invitation/update', { invitation_id: id, is_accepted: true })).status).toBe(200);
    expect((await post('/invitation/delete', { invitation_id: id })).status).toBe(200);
    expect(await actions(`table_name=invitation&object_id=${id}`)).toEqual(['created', 'updated', 'deleted']);
  });
});
