import { describe, expect, it } from 'vitest';
import { labelledSpans, labelsOf } from '../../../src/domain/traces/trace-labels.ts';
import { aSpan, headOf, spanId } from '../../ports/samples.ts';

describe('session, user and tags of a trace', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['OpenInference and the gateway', { 'session.id': 's', 'user.id': 'u', 'tag.tags': '["b","a"]' }],
    ['OpenInference metadata', { metadata: '{"session_id":"s","user_id":"u"}', 'tag.tags': 'a,b' }],
    ['GenAI', { 'gen_ai.conversation.id': 's', 'enduser.id': 'u', 'tag.tags': '["a","b"]' }],
    ['Langfuse', { 'langfuse.session.id': 's', 'langfuse.user.id': 'u', 'langfuse.trace.tags': '["a","b"]' }],
    [
      'LangSmith',
      { 'langsmith.metadata.thread_id': 's', 'langsmith.metadata.user_id': 'u', 'langsmith.span.tags': 'a, b' },
    ],
    [
      'Traceloop',
      {
        'traceloop.association.properties.session_id': 's',
        'traceloop.association.properties.user_id': 'u',
        'traceloop.association.properties.tags': '["a","b"]',
      },
    ],
    [
      'AI SDK',
      {
        'ai.telemetry.metadata.sessionId': 's',
        'ai.telemetry.metadata.userId': 'u',
        'ai.telemetry.metadata.tags': '["a","b"]',
      },
    ],
    ['Logfire', { 'session.id': 's', 'user.id': 'u', 'logfire.tags': '["b","a","a"]' }],
  ])('by %s', (_convention, attributes) => {
    expect(labelsOf([attributes])).toEqual({ sessionId: 's', userId: 'u', tags: ['a', 'b'] });
  });

  it('are the first of several spans, with all tags', () => {
    const spans = [
      { 'user.id': ' ' },
      { 'session.id': 's', 'tag.tags': '["b"]' },
      { 'session.id': 't', 'user.id': 'u' },
    ];
    expect(labelsOf([...spans, { 'tag.tags': '["a",1,""]' }])).toEqual({
      sessionId: 's',
      userId: 'u',
      tags: ['a', 'b'],
    });
  });

  it('are none without attributes, and above the limits', () => {
    const none = { sessionId: null, userId: null, tags: [] };
    expect(labelsOf([])).toEqual(none);
    expect(labelsOf([{ 'session.id': 's'.repeat(513), 'user.id': 'null', metadata: '[1]' }])).toEqual(none);
    const many = Array.from({ length: 101 }, (_, at) => `t${at}`);
    expect(labelsOf([{ 'tag.tags': JSON.stringify(many) }]).tags).toHaveLength(100);
  });

  it('are read from roots first, then from the earliest steps, of at most eight spans', () => {
    const below = { parentSpanId: spanId(99) };
    const spans = [
      headOf(aSpan({ spanId: spanId(1), ...below })),
      headOf(aSpan({ spanId: spanId(2), ...below, type: 'tool' })),
      headOf(aSpan({ spanId: spanId(3), parentSpanId: null })),
      ...Array.from({ length: 9 }, (_, at) => headOf(aSpan({ spanId: spanId(at + 4), ...below }))),
    ];
    const ids = labelledSpans(spans).map(({ spanId: id }) => Number.parseInt(id, 16));
    expect(ids).toEqual([3, 1, 4, 5, 6, 7, 8, 9]);
  });
});
