import { describe, expect, it } from 'vitest';
import { NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient();

const CALL = {
  request_id: 'call-1',
  user_id: 'user-1',
  model: 'demo',
  timestamp: '2026-11-24T00:00:00Z',
  guardrail_information: [{ guardrail_name: 'g', guardrail_mode: 'pre_call', guardrail_status: 'success' }],
};

const ROUTES = [
  {
    row: 'compliance.gdpr',
    path: '/compliance/gdpr',
    answer: {
      compliant: true,
      regulation: 'GDPR',
      checks: [
        {
          check_name: 'Data protection applied',
          article: 'Art. 32',
          passed: true,
          detail: '1 guardrail ran before the call.',
        },
        {
          check_name: 'Sensitive data protected',
          article: 'Art. 5(1)(c)',
          passed: true,
          detail: 'The guardrails found no sensitive data.',
        },
        { check_name: 'Audit record complete', article: 'Art. 30', passed: true, detail: 'Every fact is recorded.' },
      ],
    },
  },
  {
    row: 'compliance.euAiAct',
    path: '/compliance/eu-ai-act',
    answer: {
      compliant: true,
      regulation: 'EU AI Act',
      checks: [
        { check_name: 'Guardrails applied', article: 'Art. 9', passed: true, detail: '1 guardrail ran.' },
        {
          check_name: 'Content screened before LLM',
          article: 'Art. 5',
          passed: true,
          detail: '1 guardrail ran before the call.',
        },
        { check_name: 'Audit record complete', article: 'Art. 12', passed: true, detail: 'Every fact is recorded.' },
      ],
    },
  },
];

describe.each(ROUTES)('$row', ({ row, path, answer }) => {
  it(`${row} 200: a call with a guardrail is compliant, and a call without one is not`, async () => {
    expect(await client.post(path, CALL)).toEqual({ status: 200, body: answer });
    expect(await client.post(path, CALL, await client.user({ user_role: 'proxy_admin_viewer' }))).toEqual({
      status: 200,
      body: answer,
    });
    const { status, body } = await client.post(path, { request_id: 'call-2' });
    expect([status, body['compliant']]).toEqual([200, false]);
  });

  it(`${row} 401: without a key, and with the key of a user`, async () => {
    expect(await client.post(path, CALL, '')).toEqual(NO_KEY);
    const key = await client.user({ user_role: 'internal_user' });
    expect(await client.post(path, CALL, key)).toMatchObject({ status: 401, body: { error: { type: 'auth_error' } } });
  });

  it(`${row} 401: with the key of a read-only user`, async () => {
    const key = await client.user({ user_role: 'internal_user_viewer' });
    expect(await client.post(path, CALL, key)).toMatchObject({ status: 401, body: { error: { type: 'auth_error' } } });
  });

  it.each([
    [{}, [['body', 'request_id']]],
    [
      { request_id: 7, guardrail_information: {} },
      [
        ['body', 'request_id'],
        ['body', 'guardrail_information'],
      ],
    ],
    [{ request_id: 'a', guardrail_information: [null] }, [['body', 'guardrail_information']]],
  ])(`${row} 422: an invalid call: %j`, async (call, locations) => {
    const { status, body } = await client.post(path, call);
    expect([status, (body['detail'] as readonly { readonly loc: unknown }[]).map(({ loc }) => loc)]).toEqual([
      422,
      locations,
    ]);
  });
});
