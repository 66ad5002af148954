import { describe, expect, it } from 'vitest';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan, Span } from '../../../src/domain/traces/span.ts';
import { aRawSpan, anEvent } from '../../support/raw-span.ts';

const OWNER = { teamId: 'team-1', keyHash: 'key-1' };

function read(overrides: Partial<RawSpan>, maxValueBytes?: number): Span {
  const [span] = readSpans([aRawSpan(overrides)], OWNER, maxValueBytes);
  if (span === undefined) throw new Error('The span was not read.');
  return span;
}

describe('a span without a known convention', () => {
  it('keeps all values, as text', () => {
    const span = read({
      parentSpanId: 'aaaaaaaaaaaaaaaa',
      kind: 'SERVER',
      status: 'ok',
      attributes: { text: 'a', flag: true, count: 3, big: 2n ** 60n, bytes: Uint8Array.of(0xff, 0x61), none: null },
      events: [anEvent('e', { list: [1, 'two', 3n, null, Number.NaN, Uint8Array.of(0x62)], map: { k: { n: 1.5 } } })],
      links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), attributes: { l: false } }],
      resource: { attributes: { 'service.name': 'support', pid: 7 } },
    });
    // Ids, name and times are those of `aRawSpan`.
    expect(span).toEqual({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      parentSpanId: 'aaaaaaaaaaaaaaaa',
      name: 'step',
      kind: 'SERVER',
      type: 'chain',
      agent: '',
      service: 'support',
      startNs: 1_760_000_000_000_000_000n,
      endNs: 1_760_000_002_000_000_000n,
      status: 'ok',
      error: null,
      model: null,
      inputTokens: 0,
      outputTokens: 0,
      inputPreview: '',
      requestId: null,
      provider: null,
      framework: '',
      callId: null,
      gateway: false,
      cost: null,
      estimate: null,
      source: null,
      input: '',
      output: '',
      attributes: {
        text: 'a',
        flag: 'true',
        count: '3',
        big: '1152921504606846976',
        bytes: '\ufffda',
        none: 'null',
      },
      resourceAttributes: { 'service.name': 'support', pid: '7' },
      events: [
        {
          name: 'e',
          timeNs: 1_760_000_000_000_000_000n,
          attributes: { list: '[1,"two",3,null,"NaN","b"]', map: '{"k":{"n":1.5}}' },
        },
      ],
      links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), attributes: { l: 'false' } }],
    });
  });

  it('is a step, and a root with an agent name is an agent run', () => {
    expect(read({}).type).toBe('chain');
    expect(read({ attributes: { 'gen_ai.agent.name': 'triage' } }).type).toBe('agent');
    expect(read({ resource: { attributes: { 'gen_ai.agent.name': 'triage' } } }).type).toBe('agent');
  });

  it('keeps an attribute of any name', () => {
    const attributes = Object.defineProperty({}, '__proto__', { value: 'odd', enumerable: true });
    expect(Object.entries(read({ attributes }).attributes)).toEqual([['__proto__', 'odd']]);
  });
});

describe('the owner of a span', () => {
  it('is never read from its resource', () => {
    const claimed = {
      'litellm.team_id': 'other',
      'litellm.api_key_hash': 'other',
      'litellm.org_id': 'other',
      'litellm.user_id': 'other',
      a: '1',
    };
    expect(read({ resource: { attributes: claimed } }).resourceAttributes).toEqual({
      'litellm.team_id': 'team-1',
      'litellm.api_key_hash': 'key-1',
      'litellm.org_id': '',
      'litellm.user_id': '',
      a: '1',
    });
  });
});

describe('the error of a span', () => {
  const exception = anEvent('exception', { 'exception.message': 'no such order', 'exception.type': 'KeyError' });
  it.each([
    ['the status message', { statusMessage: 'timed out', events: [exception] }, 'timed out'],
    ['otherwise the message of the first exception', { events: [anEvent('log', {}), exception] }, 'no such order'],
    [
      'otherwise the type of the first exception',
      { events: [anEvent('exception', { 'exception.type': 'KeyError' }), exception] },
      'KeyError',
    ],
    ['otherwise null', { status: 'error' as const, events: [anEvent('exception', {})] }, null],
  ])('is %s', (_what, overrides, error) => {
    expect(read(overrides).error).toBe(error);
  });
});

describe('token counts', () => {
  const count = (value: RawSpan['attributes'][string]) =>
    read({ attributes: { 'gen_ai.usage.input_tokens': value } }).inputTokens;

  it.each([
    [0, 0],
    [4_294_967_295, 4_294_967_295],
    ['100', 100],
    [' 100 ', 100],
    ['', 0],
    ['many', 0],
  ])('from %j are %j', (value, counted) => {
    expect(count(value)).toBe(counted);
  });

  it.each([-1, 4_294_967_296, 1.5, 2n ** 60n, '-5', '4294967296', [1], null])(
    'are zero for an invalid value, which stays an attribute: %s',
    (value) => {
      const span = read({ attributes: { 'gen_ai.usage.output_tokens': value } });
      expect(span.outputTokens).toBe(0);
      expect(Object.keys(span.attributes)).toEqual(['gen_ai.usage.output_tokens']);
    },
  );

  it('are read from older names when the newer ones are absent', () => {
    const older = { 'gen_ai.usage.prompt_tokens': 7, 'gen_ai.usage.completion_tokens': 8 };
    expect(read({ attributes: older })).toMatchObject({ inputTokens: 7, outputTokens: 8 });
    const withNewer = { ...older, 'gen_ai.usage.input_tokens': 1, 'gen_ai.usage.output_tokens': 0 };
    expect(read({ attributes: withNewer })).toMatchObject({ inputTokens: 1, outputTokens: 0 });
  });
});

describe('the agent of a span', () => {
  it.each([
    ['the GenAI name', { 'gen_ai.agent.name': 'a', 'agent.name': 'b' }, 'a'],
    ['a generic name', { 'agent.name': 'b', 'openclaw.agent': 'c' }, 'b'],
    ['a vendor name', { 'openclaw.agent': 'c', 'langsmith.metadata.lc_agent_name': 'd' }, 'c'],
    ['the framework name', { 'langsmith.metadata.lc_agent_name': 'd' }, 'd'],
    ['its resource', {}, 'r'],
    [
      'the OpenInference name before the GenAI name',
      { 'openinference.span.kind': 'LLM', 'agent.name': 'b', 'gen_ai.agent.name': 'a' },
      'b',
    ],
  ])('is read from %s', (_what, attributes, agent) => {
    expect(read({ attributes, resource: { attributes: { 'gen_ai.agent.name': 'r' } } }).agent).toBe(agent);
  });

  it('has no name where a package sends a placeholder for it', () => {
    const attributes = { 'openinference.span.kind': 'AGENT', 'agent.name': 'Agent' };
    const scope = (name: string) => ({ name, version: '', attributes: {} });
    const from = (name: string) => read({ attributes, instrumentationScope: scope(name) }).agent;
    expect(from('openinference.instrumentation.claude_agent_sdk')).toBe('');
    expect(from('openinference.instrumentation.other')).toBe('Agent');
  });
});

describe('long values', () => {
  it('are truncated in every place, with the number of removed bytes', () => {
    const long = 'x'.repeat(65_537);
    const cut = `${'x'.repeat(65_536)}…[truncated 1 bytes]`;
    const span = read({
      statusMessage: long,
      attributes: { a: long, 'gen_ai.tool.call.arguments': long, 'gen_ai.tool.call.result': long },
      events: [anEvent('e', { a: long })],
      resource: { attributes: { a: long } },
    });
    expect(span).toMatchObject({ error: cut, input: cut, output: cut, attributes: { a: cut } });
    expect(span.events[0]?.attributes).toEqual({ a: cut });
    expect(span.resourceAttributes).toEqual({ a: cut });
    expect(read({ attributes: { a: long.slice(1) } }).attributes).toEqual({ a: long.slice(1) });
  });

  it('are truncated to 512 bytes in the model, but not in attributes', () => {
    const long = 'm'.repeat(600);
    const span = read({ attributes: { 'gen_ai.request.model': long } });
    expect(span.model).toBe(`${'m'.repeat(512)}…[truncated 88 bytes]`);
    expect(span.attributes).toEqual({ 'gen_ai.request.model': long });
  });
});
