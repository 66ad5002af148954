import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded([
    contentFilter('mask', {
      mode: ['pre_call', 'post_call'],
      default_on: true,
      patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
    }),
  ]);
});
afterAll(() => guarded.stop());

describe('a response that the gateway stores', () => {
  it('200: the masked response is stored, and a continuation sends the masked history', async () => {
    guarded.setAnswer(`ask ${SECRET}`);
    const first = await guarded.ask('/v1/responses', { model: 'claude', input: `I am ${SECRET}`, store: true });
    expect(JSON.stringify(first.body)).toContain('ask [EMAIL_REDACTED]');
    const { id } = first.body as { id: string };
    const stored = await guarded.app.call('GET', `/v1/responses/${id}`);
    const text = await stored.text();
    expect([stored.status, text.includes(SECRET), text.includes('ask [EMAIL_REDACTED]')]).toEqual([200, false, true]);
    const next = await guarded.ask('/v1/responses', { model: 'claude', input: 'and?', previous_response_id: id });
    const upstreamBody = guarded.upstreamRequests()[0]?.body ?? '';
    expect([next.status, upstreamBody.includes(SECRET), upstreamBody.includes('I am [EMAIL_REDACTED]')]).toEqual([
      200,
      false,
      true,
    ]);
  });
});
