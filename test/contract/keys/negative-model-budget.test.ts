import { expect, it } from 'vitest';
import { envelope, tenancyClient } from '../../support/tenancy-client.ts';

const { post, key: newKey } = tenancyClient();

it.each(['budget_limit', 'max_budget'])(
  'a negative budget of a key and a negative %s of a model are refused',
  async (member) => {
    const draft = { model_max_budget: { demo: { [member]: -1, time_period: '1d' } } };
    const refused = envelope(400, 'model_max_budget must be a non-negative finite number. Received: -1');
    const keyRefusal = await post('/key/generate', { max_budget: -1 });
    expect(keyRefusal).toEqual(envelope(400, 'max_budget must be a non-negative finite number. Received: -1'));
    expect(await post('/key/generate', draft)).toEqual(refused);
    expect((await post('/key/update', { key: await newKey({}), ...draft })).status).toBe(400);
    expect((await post('/key/generate', { model_max_budget: { demo: { [member]: 0 } } })).status).toBe(200);
  },
);
