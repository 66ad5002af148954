import { describe, expect, it } from 'vitest';
import { calibrated } from '../../../src/domain/auto-routers/calibration.ts';
import { conversationOf, withoutReminders } from '../../../src/domain/auto-routers/conversation.ts';
import { firstJsonObject } from '../../../src/domain/auto-routers/json-objects.ts';
import { createCircuitBreaker } from '../../../src/gateway/auto-routers/circuit-breaker.ts';
import { createHeldDecisions } from '../../../src/gateway/auto-routers/held-decisions.ts';
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
  it('has the system text and the texts of the person', () => {
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
      asks: ['one', 'three'],
      endsWithAsk: true,
      hasImage: true,
    });
  });

  it('is read in other dialects; results of tools are no texts of the person', () => {
    const tool = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }] }],
    };
    expect(conversationOf(MESSAGES, { system: 's', messages: [{ role: 'user', content: 'a' }, tool] })).toEqual({
      system: 's',
      asks: ['a'],
      endsWithAsk: false,
      hasImage: false,
    });
    expect(conversationOf(RESPONSES, { instructions: 'i', input: 'ask' })).toMatchObject({
      system: 'i',
      asks: ['ask'],
    });
    const items = [
      { role: 'user', content: 'ask' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ];
    expect(conversationOf(RESPONSES, { input: items })).toMatchObject({ asks: ['ask'], endsWithAsk: false });
    expect(conversationOf(COMPLETIONS, { prompt: 'go on' })).toMatchObject({ asks: ['go on'], endsWithAsk: true });
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

describe('held decisions', () => {
  it('expire a time after their last use; the oldest of more than 10,000 sessions is evicted', () => {
    let now = 0;
    const held = createHeldDecisions(() => now);
    held.keep('s', { tier: 'SIMPLE', model: 'm' }, 100);
    now = 99;
    expect(held.find('s', 100)).toMatchObject({ tier: 'SIMPLE', model: 'm' });
    now = 198;
    expect(held.find('s', 100)).not.toBeNull();
    now = 298;
    expect(held.find('s', 100)).toBeNull();
    held.keep('first', { tier: 'SIMPLE', model: 'm' }, 100);
    for (let session = 0; session < 10_000; session += 1)
      held.keep(String(session), { tier: 'SIMPLE', model: 'm' }, 100);
    expect(held.find('first', 100)).toBeNull();
    expect(held.find('0', 100)).not.toBeNull();
  });
});
