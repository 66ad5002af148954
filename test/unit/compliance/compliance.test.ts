import { describe, expect, it } from 'vitest';
import { type CallEvidence, complianceOf } from '../../../src/domain/compliance/compliance.ts';

const call = (guardrails: CallEvidence['guardrails'], overrides: Partial<CallEvidence> = {}): CallEvidence => ({
  userId: 'user-1',
  model: 'demo',
  timestamp: '2026-11-24T00:00:00Z',
  guardrails,
  ...overrides,
});
/** Result of the first GDPR check: whether content is screened before the call. */
const isScreened = (mode: unknown): boolean | undefined =>
  complianceOf('gdpr', call([{ guardrail_mode: mode, guardrail_status: 'success' }])).checks[0]?.passed;
/** The second GDPR check, of a call with guardrails of these statuses. */
const sensitiveDataCheck = (...statuses: readonly unknown[]) =>
  complianceOf('gdpr', call(statuses.map((status) => ({ guardrail_mode: 'pre_call', guardrail_status: status }))))
    .checks[1];

describe('the mode of a guardrail', () => {
  it.each([
    [undefined, true],
    [null, true],
    ['pre_call', true],
    ['post_call', false],
    [['pre_call'], true],
    [['pre_call', 'post_call'], false],
    [[], false],
    [7, false],
    [{ default: 'pre_call' }, true],
    [{ default: ['pre_call'], tags: { a: 'pre_call' } }, true],
    [{ default: 'pre_call', tags: { a: 'post_call' } }, false],
    [{ default: 'pre_call', tags: { a: null } }, false],
    [{ tags: { a: 'pre_call' } }, false],
  ])('%j runs before the call: %s', (mode, expected) => {
    expect(isScreened(mode)).toBe(expected);
  });
});

describe('sensitive data', () => {
  it.each([
    [['success'], true, 'The guardrails found no sensitive data.'],
    [['success', 'guardrail_intervened'], true, 'A guardrail blocked or changed the call.'],
    [['success', 'guardrail_flagged'], false, 'A guardrail before the call flagged the call and did not change it.'],
    [['guardrail_flagged', 'guardrail_intervened'], true, 'A guardrail blocked or changed the call.'],
    [['guardrail_flagged', 'guardrail_failed_to_respond'], false, 'A guardrail before the call gave no result.'],
    [['guardrail_failed_to_respond'], false, 'A guardrail before the call gave no result.'],
    [['success', 'guardrail_failed_to_respond'], false, 'A guardrail before the call gave no result.'],
    [[], false, 'No guardrail ran before the call.'],
  ])('after guardrails with the statuses %j is protected: %s', (statuses, passed, detail) => {
    expect(sensitiveDataCheck(...statuses)).toEqual({
      name: 'Sensitive data protected',
      article: 'Art. 5(1)(c)',
      passed,
      detail,
    });
  });
});

describe('the record of a call', () => {
  it('fails and lists the missing parts when it is incomplete', () => {
    const { checks } = complianceOf('euAiAct', call([], { userId: null, timestamp: '' }));
    expect(checks).toEqual([
      { name: 'Guardrails applied', article: 'Art. 9', passed: false, detail: 'No guardrail ran.' },
      {
        name: 'Content screened before LLM',
        article: 'Art. 5',
        passed: false,
        detail: 'No guardrail ran before the call.',
      },
      {
        name: 'Audit record complete',
        article: 'Art. 12',
        passed: false,
        detail: 'Missing: user_id, timestamp, guardrail_results',
      },
    ]);
  });

  it('passes when it is complete', () => {
    expect(complianceOf('gdpr', call([{}, {}])).checks).toMatchObject([
      { passed: true, detail: '2 guardrails ran before the call.' },
      // Guardrails without a status do not protect sensitive data.
      { passed: false },
      { article: 'Art. 30', passed: true, detail: 'Every fact is recorded.' },
    ]);
  });
});
