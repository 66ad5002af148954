import { expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient();

it('docs.openApi 200: the OpenAPI document, without a key', async () => {
  const { status, body } = await client.get('/openapi.json', '');
  expect(status).toBe(200);
  expect(body['openapi']).toBe('3.1.0');
  expect(body['paths']).toMatchObject({
    '/v1/chat/completions': {
      post: { tags: ['chat'], responses: { 200: { description: 'Success.' } }, security: [{ key: [] }] },
    },
  });
});

it('docs.configSchema 200: the schema of the configuration file, without a key', async () => {
  const answer = await client.app().call('GET', '/config.schema.json', undefined, { authorization: '' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/schema+json']);
  expect(await answer.json()).toMatchObject({ title: 'Configuration file of Lensgate', type: 'object' });
});
