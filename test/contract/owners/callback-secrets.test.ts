import { expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { get, post, send } = tenancyClient();

const metadata = {
  logging: [
    {
      callback_name: 'langfuse',
      callback_vars: { langfuse_secret_key: 'sk-secret-value', langfuse_host: 'https://l' },
    },
  ],
};

it('answers contain no callback secrets of keys and teams: changes, reads, lists, graph and audit log', async () => {
  const team = await post('/team/new', { team_id: 'calling', metadata });
  const key = await post('/key/generate', { team_id: 'calling', metadata });
  const { token } = key.body as { token: string };
  const graph = {
    query: `{ team: teams(first: 5) { nodes { metadata } } keys: virtualKeys(first: 5) { nodes { metadata } } }`,
  };
  const reads = [
    await get('/team/info?team_id=calling'),
    await get('/team/list'),
    await get('/v2/team/list'),
    await get(`/key/info?key=${token}`),
    await get('/key/list?return_full_object=true&team_id=calling'),
  ];
  const change = await post('/key/update', { key: token, metadata: { ...metadata, note: 'x' } });
  const graphAnswer = await send('POST', '/graphql', graph);
  const auditLog = await get('/audit?page_size=50');
  for (const { status, body } of [team, key, ...reads, change, graphAnswer, auditLog]) {
    expect(status).toBe(200);
    const text = JSON.stringify(body);
    expect(text).not.toContain('sk-secret-value');
  }
  expect(JSON.stringify(graphAnswer.body)).toContain('"langfuse_secret_key":"REDACTED"');
  for (const { body } of reads) {
    expect(JSON.stringify(body)).toContain('"langfuse_secret_key":"REDACTED","langfuse_host":"https://l"');
  }
});
