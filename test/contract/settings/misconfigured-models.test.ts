import { describe, expect, it } from 'vitest';
import { chat, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    model_list: [
      { model_name: 'keyless', litellm_params: { model: 'groq/x' }, model_info: { id: 'keyless-1' } },
      // An unknown provider.
      { model_name: 'acme', litellm_params: { model: 'acme/large' }, model_info: { id: 'acme-1' } },
      // A provider without an address of its own, and no `api_base`.
      { model_name: 'mixed', litellm_params: { model: 'vllm/large' }, model_info: { id: 'mixed-1' } },
      { model_name: 'mixed', litellm_params: { model: 'demo' }, model_info: { id: 'mixed-2' } },
    ],
    router_settings: { fallbacks: [{ acme: ['mixed'] }] },
  },
});

const REASON = 'The model "keyless" has no key: set api_key, or one of GROQ_API_KEY.';

describe('a model that cannot be called', () => {
  it('is refused with 503, and a model group uses its other deployments', async () => {
    const refused = await client.post('/v1/chat/completions', chat('keyless'));
    expect(refused.status).toBe(503);
    expect(refused.body['error']).toMatchObject({
      message: expect.stringContaining('The model "keyless" is misconfigured and cannot be called.'),
      code: '503',
    });
    const calls = [1, 2, 3].map(() => client.post('/v1/chat/completions', chat('mixed')));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('is listed, and is unhealthy', async () => {
    const { body: models } = await client.get('/v1/models');
    expect((models['data'] as readonly { readonly id: string }[]).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['keyless', 'acme', 'mixed']),
    );
    const { status, body } = await client.get('/health');
    expect(status).toBe(200);
    const unhealthy = body['unhealthy_endpoints'] as readonly { readonly model_id: string; readonly error: string }[];
    expect(unhealthy.map(({ model_id: id }) => id)).toEqual(['keyless-1', 'acme-1', 'mixed-1']);
    expect(unhealthy[0]?.error).toBe(REASON);
  });

  it('has its configuration error in the graph, for administrators', async () => {
    const query = '{ deployments { deploymentId fault } }';
    const faults = async (key?: string) => (await client.post('/graphql', { query }, key)).body['data'];
    expect(await faults()).toEqual({
      deployments: expect.arrayContaining([
        { deploymentId: 'keyless-1', fault: REASON },
        { deploymentId: 'mixed-2', fault: null },
      ]),
    });
    expect(await faults(await client.key({}))).toEqual({
      deployments: expect.arrayContaining([{ deploymentId: 'keyless-1', fault: 'It is misconfigured.' }]),
    });
  });

  it('does not change the status of calls of an unknown model, which is 400', async () => {
    expect((await client.post('/v1/chat/completions', chat('zzz'))).status).toBe(400);
  });
});
