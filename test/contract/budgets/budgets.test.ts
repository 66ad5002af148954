import { describe, expect, it } from 'vitest';
import { detail, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post } = tenancyClient();

describe('budgets', () => {
  it('budgets.create, budgets.info, budgets.list 200: limits under an id', async () => {
    const draft = {
      budget_id: 'b1',
      max_budget: 10,
      soft_budget: 5,
      budget_duration: '1d',
      tpm_limit: 100,
      rpm_limit: 10,
    };
    const { status, body } = await post('/budget/new', { ...draft, max_parallel_requests: 3 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...draft, max_parallel_requests: 3, created_by: 'default_user_id' });
    expect(String(body['budget_reset_at'])).toMatch(/T00:00:00\.000Z$/);
    expect((await post('/budget/info', { budgets: ['b1', 'nope'] })).body).toEqual([body]);
    expect((await get('/budget/list')).body).toEqual([body]);
  });

  it('budgets.create 400: a taken id, a malformed duration, an amount below zero', async () => {
    expect(await post('/budget/new', { budget_id: 'b1' })).toEqual(detail(400, "Budget with id 'b1' already exists."));
    const malformed = "Invalid budget_duration 'zzz'. Use a format like '1h', '24h', '7d', or '30d'.";
    expect(await post('/budget/new', { budget_duration: 'zzz' })).toEqual(detail(400, malformed));
    expect((await post('/budget/new', { soft_budget: -1 })).status).toBe(400);
  });

  it('budgets.settings 200: members of a budget with their values', async () => {
    const valueOf = async (id: string, name: string) => {
      const form = (await get(`/budget/settings?budget_id=${id}`)).body as unknown as readonly Json[];
      return form.find((field) => field['field_name'] === name)?.['field_value'];
    };
    expect(await valueOf('b1', 'max_budget')).toBe(10);
    expect(await valueOf('b1', 'max_parallel_requests')).toBe(3);
    expect(await valueOf('nope', 'max_budget')).toBeNull();
  });

  it('budgets.update 200: a changed budget, or null for an unknown budget; 400: an invalid change, no id', async () => {
    expect(
      (await post('/budget/update', { budget_id: 'b1', max_budget: 11, budget_duration: null })).body,
    ).toMatchObject({
      max_budget: 11,
      soft_budget: 5,
      budget_duration: null,
      budget_reset_at: null,
    });
    expect(await post('/budget/update', { budget_id: 'nope' })).toEqual({ status: 200, body: null });
    expect((await post('/budget/update', { budget_id: 'b1', max_budget: -1 })).status).toBe(400);
    for (const id of [undefined, null, '', ' '])
      expect(await post('/budget/update', { budget_id: id, max_budget: 1 })).toEqual(
        detail(400, 'budget_id is required'),
      );
  });

  it('budgets.info 400: no ids', async () => {
    expect(await post('/budget/info', { budgets: [] })).toEqual(detail(400, 'Specify list of budget ids to query.'));
  });

  it('budgets.delete 200: the deleted budget, or null for an unknown budget', async () => {
    expect((await post('/budget/delete', { id: 'b1' })).body).toMatchObject({ budget_id: 'b1', max_budget: 11 });
    expect(await post('/budget/delete', { id: 'b1' })).toEqual({ status: 200, body: null });
  });
});

describe('tags', () => {
  const tagNotFound = { status: 404, body: { detail: 'Tag nope not found' } };

  it('tags.create, tags.info, tags.list 200: a tag with a budget', async () => {
    const draft = { name: 't1', description: 'd', models: ['demo'] };
    const { body } = await post('/tag/new', { ...draft, max_budget: 1 });
    expect(body).toMatchObject({ message: 'Tag t1 created successfully', tag: draft });
    const shown = { ...draft, litellm_budget_table: { max_budget: 1 } };
    expect((await post('/tag/info', { names: ['t1'] })).body).toMatchObject({ t1: shown });
    expect((await get('/tag/list')).body).toMatchObject([shown]);
  });

  it('tags.create 400: a taken name', async () => {
    expect(await post('/tag/new', { name: 't1' })).toEqual({ status: 400, body: { detail: 'Tag t1 already exists' } });
  });

  it('tags.update, tags.delete 200; tags.info, tags.update, tags.delete 404: an unknown tag', async () => {
    expect((await post('/tag/update', { name: 't1', description: 'new' })).body).toMatchObject({
      tag: { name: 't1', description: 'new', models: ['demo'] },
    });
    expect(await post('/tag/info', { names: ['t1', 'nope'] })).toEqual(tagNotFound);
    expect(await post('/tag/update', { name: 'nope' })).toEqual(tagNotFound);
    expect(await post('/tag/delete', { name: 'nope' })).toEqual(tagNotFound);
    expect((await post('/tag/delete', { name: 't1' })).body).toEqual({ message: 'Tag t1 deleted successfully' });
    expect((await get('/tag/list')).body).toEqual([]);
  });
});
