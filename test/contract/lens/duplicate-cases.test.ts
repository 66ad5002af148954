import { expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { post } = tenancyClient();

it('lens.saveDataset 200: the first of equal cases stays at its position, and the others are dropped', async () => {
  const { body } = await post('/lens/datasets', { name: 'repeated' });
  const cases = [
    { messages: [{ role: 'user', content: 'A' }], expected: 'first' },
    { messages: [{ role: 'user', content: 'B' }] },
    { messages: [{ role: 'user', content: 'A' }], expected: 'last' },
  ];
  const saved = await post(`/lens/datasets/${String(body['id'])}/revisions`, { base_revision: 0, cases });
  expect(saved).toMatchObject({
    status: 200,
    body: {
      cases: [
        { messages: [{ content: 'A' }], expected: 'first' },
        { messages: [{ content: 'B' }], expected: '' },
      ],
    },
  });
});
