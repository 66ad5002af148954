import { expect, it } from 'vitest';
import { envelope, tenancyClient } from '../../support/tenancy-client.ts';

const { send, post } = tenancyClient({ env: { STORE_MODEL_IN_DB: 'False' } });

const NOT_ENABLED = "Set `'STORE_MODEL_IN_DB='True'` in your env to enable this feature.";

it('deployments.create 400, deployments.delete 400: models are not stored', async () => {
  expect(await post('/model/new', { model_name: 'x', litellm_params: { model: 'demo' } })).toEqual(
    envelope(400, NOT_ENABLED, 'auth_error', 'None'),
  );
  expect(await post('/model/delete', { id: 'nope' })).toEqual(
    envelope(400, 'Model with id=nope not found in db', 'auth_error', 'None'),
  );
});

it('deployments.update 400, deployments.patch 400: no model can be changed', async () => {
  expect(await post('/model/update', { model_info: { id: 'nope' } })).toEqual(
    envelope(400, 'Authentication Error, model not found', 'auth_error', 'None'),
  );
  expect(await send('PATCH', '/model/nope/update', { litellm_params: { rpm: 1 } })).toEqual(
    envelope(400, 'Model updates only supported for DB-stored models', 'validation_error'),
  );
});

it('fallbacks.set, fallbacks.delete, modelAccessGroups.create 400: nothing is stored', async () => {
  const refusal = { status: 400, body: { detail: { error: NOT_ENABLED } } };
  expect(await post('/fallback', { model: 'demo', fallback_models: ['demo'] })).toEqual(refusal);
  expect(await send('DELETE', '/fallback/demo')).toEqual(refusal);
  expect(await post('/access_group/new', { access_group: 'g', model_names: ['demo'] })).toEqual(refusal);
});
