import { describe, expect, it } from 'vitest';
import type { Attributes } from '../../../src/domain/traces/span.ts';
import {
  joinLabels,
  labelsOfSpan,
  NO_LABELS,
  SESSION_OF_ROOT,
  type StatedLabels,
  USER_OF_ROOT,
} from '../../../src/domain/traces/trace-labels.ts';

const labelsOf = (attributes: Attributes) => labelsOfSpan({ attributes, parentSpanId: null }, 'chain');

describe('session, user and tags of a span', () => {
  it.each<[string, Attributes]>([
    ['OpenInference and the gateway', { 'session.id': 's', 'user.id': 'u', 'tag.tags': ['b', 'a'] }],
    ['OpenInference metadata', { metadata: '{"session_id":"s","user_id":"u"}', 'tag.tags': 'a,b' }],
    ['a map of metadata', { metadata: { thread_id: 's', user_id: 'u' }, 'tag.tags': '["a","b"]' }],
    ['GenAI', { 'gen_ai.conversation.id': 's', 'enduser.id': 'u', 'tag.tags': '["a","b"]' }],
    ['Langfuse', { 'langfuse.session.id': 's', 'langfuse.user.id': 'u', 'langfuse.trace.tags': ['a', 'b'] }],
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
        'ai.telemetry.metadata.tags': ['a', 'b'],
      },
    ],
    ['Logfire', { 'gen_ai.conversation.id': 's', 'user.id': 'u', 'logfire.tags': ['b', 'a', 'a'] }],
    ['MLflow', { 'mlflow.trace.session': 's', 'mlflow.trace.user': 'u', 'tag.tags': 'b,a' }],
  ])('are read from the attributes of a convention: %s', (_convention, attributes) => {
    expect(labelsOf(attributes)).toEqual({ sessionId: 's', userId: 'u', tags: ['a', 'b'] });
  });

  it('are those of the standard attribute, in any order of attributes', () => {
    const attributes = { 'langfuse.session.id': 'l', 'session.id': 's', 'gen_ai.conversation.id': 'g', 'user.id': ' ' };
    const otherAttributes = { 'enduser.id': 'u', metadata: '{"session_id":"m","user_id":"m"}' };
    const labels = { sessionId: 's', userId: 'u', tags: [] };
    expect(labelsOf({ ...attributes, ...otherAttributes })).toEqual(labels);
    expect(labelsOf(Object.fromEntries(Object.entries({ ...attributes, ...otherAttributes }).toReversed()))).toEqual(
      labels,
    );
  });

  it('are absent without valid attributes, and have at most 100 tags', () => {
    expect(labelsOf({})).toBeUndefined();
    expect(labelsOf({ 'session.id': 's'.repeat(513), 'user.id': 'null', metadata: '[1]', 'tag.tags': 1 })).toBe(
      undefined,
    );
    const many = Array.from({ length: 101 }, (_, index) => `t${index}`);
    expect(labelsOf({ 'tag.tags': JSON.stringify(many) })?.tags).toHaveLength(100);
  });

  it('are read from roots, agents, steps and model calls only', () => {
    const attributes = { 'session.id': 's' };
    const labels = { sessionId: 's', userId: null, tags: [] };
    for (const type of ['agent', 'chain', 'llm'] as const)
      expect(labelsOfSpan({ attributes, parentSpanId: 'p' }, type)).toEqual(labels);
    expect(labelsOfSpan({ attributes, parentSpanId: 'p' }, 'tool')).toBeUndefined();
    expect(labelsOfSpan({ attributes, parentSpanId: null }, 'tool')).toEqual(labels);
  });
});

describe('labels of a trace', () => {
  const stated = (fields: Partial<StatedLabels>): StatedLabels => ({ ...NO_LABELS, ...fields });

  it('are the same in any order of arrival: those of the root, otherwise the first by text, and all tags', () => {
    const parts = [
      stated({ sessionId: 'b', tags: ['x'] }),
      stated({ sessionId: 'a', userId: 'v', tags: ['y', 'z'] }),
      stated({ sessionId: 'c', rootLabels: SESSION_OF_ROOT }),
      stated({ userId: 'w' }),
    ];
    const expected = { sessionId: 'c', userId: 'v', tags: ['x', 'y', 'z'], rootLabels: SESSION_OF_ROOT };
    expect(parts.reduce(joinLabels)).toEqual(expected);
    expect(parts.toReversed().reduce(joinLabels)).toEqual(expected);
    expect([2, 0, 3, 1].map((index) => parts[index] ?? NO_LABELS).reduce(joinLabels)).toEqual(expected);
  });

  it('record which of them come from the root', () => {
    const root = stated({ sessionId: 's', userId: 'u', rootLabels: SESSION_OF_ROOT | USER_OF_ROOT });
    const ofChild = stated({ sessionId: 'a', userId: 'a', tags: ['t'] });
    expect(joinLabels(root, ofChild)).toEqual({ ...root, tags: ['t'] });
    expect(joinLabels(ofChild, root)).toEqual({ ...root, tags: ['t'] });
    expect(joinLabels(NO_LABELS, root)).toBe(root);
  });
});
