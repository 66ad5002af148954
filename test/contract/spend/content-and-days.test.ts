import { describe, expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const today = (): string => new Date().toISOString().slice(0, 10);

describe('logs of spend', () => {
  const { get, post } = tenancyClient({
    config: { general_settings: { store_prompts_in_spend_logs: true } },
  });

  it('spend.search 200: an end without a time includes its whole day', async () => {
    const before = today();
    const body = { model: 'demo', messages: [{ role: 'user', content: 'Count me' }] };
    expect((await post('/v1/chat/completions', body)).status).toBe(200);
    // The day may end during the call.
    const period = `start_date=${before}&end_date=${today()}`;
    await expect.poll(async () => (await get(`/spend/logs/v2?${period}`)).body).toMatchObject({ total: 1 });
  });

  it('spend.content 200: an answer text stays a text, even if it is valid JSON', async () => {
    const body = { model: 'demo', messages: [{ role: 'user', content: '42' }], mock_response: '42' };
    const { body: answer } = await post('/v1/chat/completions', body);
    expect(answer).toMatchObject({ choices: [{ message: { content: '42' } }] });
    const path = `/spend/logs/ui/${String(answer['id'])}`;
    await expect
      .poll(async () => (await get(path)).body)
      .toMatchObject({
        messages: [{ role: 'user', content: '42' }],
        response: '42',
      });
  });
});
