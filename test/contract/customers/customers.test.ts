import { describe, expect, it } from 'vitest';
import { envelope, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post } = tenancyClient();

describe.each(['/customer', '/end_user'])('customers at %s', (path) => {
  // Each path has customers of its own.
  const id = `c${path.length}`;
  const notFound = (param: string, customerId = 'nope') =>
    envelope(404, `End User Id=${customerId} does not exist in db`, 'not_found', param);

  it('customers.create, customers.info, customers.list 200: a customer with a budget', async () => {
    const draft = { user_id: id, alias: 'C', blocked: false, allowed_model_region: 'eu', default_model: 'demo' };
    const { status, body } = await post(`${path}/new`, { ...draft, max_budget: 5 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...draft, litellm_budget_table: { max_budget: 5, budget_id: body['budget_id'] } });
    expect((await get(`${path}/info?end_user_id=${id}`)).body).toEqual(body);
    expect((await get(`${path}/list`)).body).toContainEqual(body);
  });

  it('customers.create 400: a taken id, an unknown budget', async () => {
    const message = `Customer already exists, passed user_id=${id}. Please pass a new user_id.`;
    expect(await post(`${path}/new`, { user_id: id })).toEqual(envelope(400, message, 'bad_request', 'user_id'));
    expect(await post(`${path}/new`, { user_id: 'x', budget_id: 'nope' })).toEqual(
      envelope(400, 'Budget nope does not exist.', 'bad_request', 'budget_id'),
    );
    expect((await get(`${path}/info?end_user_id=x`)).status).toBe(404);
  });

  it('customers.create 422: a budget together with limits', async () => {
    expect(await post(`${path}/new`, { user_id: 'x', budget_id: 'nope', max_budget: 1 })).toEqual({
      status: 422,
      body: {
        detail: [{ type: 'value_error', loc: ['body'], msg: 'Value error, Set either budget_id or limits, not both.' }],
      },
    });
    expect((await get(`${path}/info?end_user_id=x`)).status).toBe(404);
  });

  it('customers.info 404: an unknown customer; 422: no id; customers.create 422: an unknown region', async () => {
    expect(await get(`${path}/info?end_user_id=nope`)).toEqual(notFound('end_user_id'));
    expect((await get(`${path}/info`)).status).toBe(422);
    expect((await post(`${path}/new`, { user_id: 'x', allowed_model_region: 'mars' })).status).toBe(422);
  });

  it('customers.update 200: changed fields; 400: a budget below zero; 404: an unknown customer', async () => {
    const { body } = await post(`${path}/update`, { user_id: id, max_budget: 9, alias: 'Z' });
    expect(body).toMatchObject({ alias: 'Z', default_model: 'demo', litellm_budget_table: { max_budget: 9 } });
    expect((await post(`${path}/update`, { user_id: id, max_budget: -1 })).status).toBe(400);
    expect(await post(`${path}/update`, { user_id: 'nope' })).toEqual(notFound('user_id'));
  });

  it('customers.block 200: concurrent requests for one unknown customer', async () => {
    const fresh = `concurrent${path.length}`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(`${path}/block`, { user_ids: [fresh] })));
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 200, body: { blocked_users: [{ user_id: fresh, blocked: true }] } });
    expect((await get(`${path}/info?end_user_id=${fresh}`)).body).toMatchObject({ user_id: fresh, blocked: true });
  });

  it('customers.block, customers.unblock 200: an unknown customer is created blocked', async () => {
    const fresh = `fresh${path.length}`;
    expect((await post(`${path}/block`, { user_ids: [id, fresh] })).body).toMatchObject({
      blocked_users: [
        { user_id: id, blocked: true },
        { user_id: fresh, blocked: true },
      ],
    });
    expect((await post(`${path}/unblock`, { user_ids: [id, 'nope'] })).body).toMatchObject({
      unblocked_users: [{ user_id: id, blocked: false }],
    });
  });

  it('customers.delete 404: no customer is deleted if one is unknown; 200: a known customer', async () => {
    expect(await post(`${path}/delete`, { user_ids: [id, 'nope'] })).toEqual(
      envelope(404, 'End User Id(s)=nope do not exist in db', 'not_found', 'user_ids'),
    );
    expect((await post(`${path}/delete`, { user_ids: [id] })).body).toMatchObject({ deleted_customers: 1 });
    expect(await get(`${path}/info?end_user_id=${id}`)).toEqual(notFound('end_user_id', id));
  });
});
