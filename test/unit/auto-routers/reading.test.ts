import { describe, expect, it } from 'vitest';
import { calibrated } from '../../../src/domain/auto-routers/calibration.ts';
import { conversationOf, withoutReminders } from '../../../src/domain/auto-routers/conversation.ts';
import { firstJsonObject } from '../../../src/domain/auto-routers/json-objects.ts';
import { createCircuitBreaker } from '../../../src/gateway/auto-routers/circuit-breaker.ts';
import { createSessionDecisions } from '../../../src/gateway/auto-routers/session-decisions.ts';
import { CHAT_COMPLETIONS, COMPLETIONS, MESSAGES, RESPONSES } from '../../../src/domain/inference/endpoint.ts';

describe('the first JSON object of an answer', () => {
  it('is found between other text', () => {
    expect(firstJsonObject('```json\n{"a": {"b": "}"}}\n``` {"c": 1}')).toEqual({ a: { b: '}' } });
    expect(firstJsonObject('{not} {"a": 1}')).toEqual({ a: 1 });
    expect(firstJsonObject(String.raw`{"a": "\"{"}`)).toEqual({ a: '"{' });
  });
  it('is null without a complete object', () => {
    expect(['', 'none', '{"a": 1', '[1]', '{'.repeat(10_000)].map(firstJsonObject)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});

describe('a calibration', () => {
  it('scales and shifts the log odds, and keeps the probability 1 below 1', () => {
    expect(calibrated(0.7, null)).toBe(0.7);
    expect(calibrated(0.7, { slope: 1, intercept: 0 })).toBeCloseTo(0.7, 12);
    expect(calibrated(0.5, { slope: 3, intercept: Math.log(3) })).toBeCloseTo(0.75, 12);
    expect(calibrated(1, { slope: 1, intercept: 0 })).toBeCloseTo(1 - 1e-6, 12);
  });
});

describe('a conversation', () => {
  it('has the system text and the texts of the user', () => {
    const body = {
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'three' },
            { type: 'image_url', image_url: { url: 'data:' } },
          ],
        },
      ],
    };
    expect(conversationOf(CHAT_COMPLETIONS, body)).toEqual({
      system: 'be kind',
      userTexts: ['one', 'three'],
      endsWithUserTurn: true,
      hasImage: true,
    });
  });

  it('is read in other dialects; results of tools are no texts of the user', () => {
    const tool = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }] }],
    };
    expect(conversationOf(MESSAGES, { system: 's', messages: [{ role: 'user', content: 'a' }, tool] })).toEqual({
      system: 's',
      userTexts: ['a'],
      endsWithUserTurn: false,
      hasImage: false,
    });
    expect(conversationOf(RESPONSES, { instructions: 'i', input: 'ask' })).toMatchObject({
      system: 'i',
      userTexts: ['ask'],
    });
    const items = [
      { role: 'user', content: 'ask' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ];
    expect(conversationOf(RESPONSES, { input: items })).toMatchObject({ userTexts: ['ask'], endsWithUserTurn: false });
    expect(conversationOf(COMPLETIONS, { prompt: 'go on' })).toMatchObject({
      userTexts: ['go on'],
      endsWithUserTurn: true,
    });
  });

  it('has an image when the result of a tool has one', () => {
    const result = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }];
    const turn = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: result }] };
    expect(conversationOf(MESSAGES, { messages: [turn] }).hasImage).toBe(true);
    const output = {
      type: 'function_call_output',
      call_id: 'c',
      output: [{ type: 'input_image', image_url: 'data:' }],
    };
    expect(conversationOf(RESPONSES, { input: [output] }).hasImage).toBe(true);
  });

  it('does not count the output of a shell as a text of the user', () => {
    const items = [
      { role: 'user', content: 'ask' },
      { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'x' }] },
    ];
    expect(conversationOf(RESPONSES, { input: items })).toMatchObject({ userTexts: ['ask'], endsWithUserTurn: false });
  });

  it('is read without complete reminders of coding agents', () => {
    expect(withoutReminders('a <system-reminder>b</system-reminder> c')).toBe('a  c');
    expect(withoutReminders('a <System-Reminder>b <system-reminder>c</system-reminder> d')).toBe('a  d');
    expect(withoutReminders('a <system-reminder>b')).toBe('a <system-reminder>b');
    expect(withoutReminders('a </system-reminder>b')).toBe('a </system-reminder>b');
  });
});

describe('a circuit breaker', () => {
  it('opens after a timeout, permits one call after the cooldown, and closes when this call succeeds', () => {
    let now = 0;
    const breaker = createCircuitBreaker(100, () => now);
    breaker.enter()?.ended();
    expect(breaker.enter()).not.toBeNull();
    breaker.enter()?.timedOut();
    expect(breaker.enter()).toBeNull();
    now = 100;
    const probe = breaker.enter();
    expect(probe).not.toBeNull();
    expect(breaker.enter()).toBeNull();
    probe?.timedOut();
    now = 199;
    expect(breaker.enter()).toBeNull();
    now = 200;
    breaker.enter()?.succeeded();
    expect([breaker.enter(), breaker.enter()]).not.toContain(null);
  });

  it('without a cooldown never opens', () => {
    const breaker = createCircuitBreaker(null, () => 0);
    breaker.enter()?.timedOut();
    expect(breaker.enter()).not.toBeNull();
  });
});

describe('decisions of sessions', () => {
  it('expire after the last use, and are bounded', () => {
    let now = 0;
    const decisions = createSessionDecisions(() => now);
    decisions.keep('s', { tier: 'SIMPLE', model: 'm' }, 100);
    now = 99;
    expect(decisions.use('s', 100)).toMatchObject({ tier: 'SIMPLE', model: 'm' });
    now = 198;
    expect(decisions.use('s', 100)).not.toBeNull();
    now = 298;
    expect(decisions.use('s', 100)).toBeNull();
    decisions.keep('first', { tier: 'SIMPLE', model: 'm' }, 100);
    for (let session = 0; session < 10_000; session += 1)
      decisions.keep(String(session), { tier: 'SIMPLE', model: 'm' }, 100);
    expect(decisions.use('first', 100)).toBeNull();
    expect(decisions.use('0', 100)).not.toBeNull();
  });
});
