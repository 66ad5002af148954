import { describe, expect, it } from 'vitest';
import { frameworkOf, traceSourceOf } from '../../../src/domain/traces/span-origin.ts';
import { aRawSpan } from '../../support/raw-span.ts';

describe('the framework of a span', () => {
  it.each([
    ['openinference.instrumentation.openai_agents', 'openai-agents'],
    ['@arizeai/openinference-instrumentation-openai', 'openai'],
    ['opentelemetry.instrumentation.openai.v1', 'openai'],
    ['opentelemetry.instrumentation.openai_v2', 'openai'],
    ['opentelemetry.instrumentation.aiohttp_client', 'http'],
    ['opentelemetry.instrumentation.httpx', 'http'],
    ['@opentelemetry/instrumentation-undici', 'http'],
    ['@traceloop/instrumentation-langchain', 'langchain'],
    ['gen_ai', 'vercel-ai-sdk'],
    ['ai', 'vercel-ai-sdk'],
    ['strands.telemetry.tracer', 'strands'],
    ['com.anthropic.claude_code.tracing', 'claude-code'],
    ['gcp.vertex.agent', 'google-adk'],
    ['pydantic-ai', 'pydantic-ai'],
    ['hermes', 'hermes'],
    ['my.own.tracer', ''],
    ['constructor', ''],
    ['', ''],
  ])('is read from the scope %j: %s', (name, framework) => {
    expect(frameworkOf(aRawSpan({ instrumentationScope: { name, version: '', attributes: {} } }))).toBe(framework);
  });

  it('is the integration in its attributes, if there is one', () => {
    const scope = { name: 'ai', version: '', attributes: {} };
    for (const key of ['langsmith.metadata.ls_integration', 'traceloop.association.properties.ls_integration'])
      expect(frameworkOf(aRawSpan({ attributes: { [key]: 'langchain' }, instrumentationScope: scope }))).toBe(
        'langchain',
      );
  });
});

describe('the source of a run', () => {
  const sourceAttributes = {
    'litellm.source.type': 'slack',
    'litellm.source.url': 'https://example.slack.com/archives/1',
    'litellm.source.title': '#orders',
  };
  const expectedSource = { type: 'slack', url: 'https://example.slack.com/archives/1', title: '#orders', user: null };

  it('is read from a root or its resource', () => {
    expect(traceSourceOf(aRawSpan({ attributes: sourceAttributes }))).toEqual(expectedSource);
    expect(
      traceSourceOf(aRawSpan({ resource: { attributes: { ...sourceAttributes, 'litellm.source.user': 'ann' } } })),
    ).toEqual({
      ...expectedSource,
      user: 'ann',
    });
    const { 'litellm.source.title': _title, ...untitled } = sourceAttributes;
    expect(traceSourceOf(aRawSpan({ attributes: untitled }))).toEqual({ ...expectedSource, title: '' });
  });

  it.each([
    ['another kind', { 'litellm.source.type': 'fax' }],
    ['a javascript: address', { 'litellm.source.url': 'javascript:alert(1)' }],
    ['an address that is not encrypted', { 'litellm.source.url': 'http://example.com' }],
    ['a text that is not an address', { 'litellm.source.url': 'somewhere' }],
    ['a very long address', { 'litellm.source.url': `https://example.com/${'x'.repeat(2_048)}` }],
  ])('is not read from %s', (_what, overrides) => {
    expect(traceSourceOf(aRawSpan({ attributes: { ...sourceAttributes, ...overrides } }))).toBeNull();
  });

  it('is absent on spans inside of the run', () => {
    expect(traceSourceOf(aRawSpan({ attributes: sourceAttributes, parentSpanId: 'a'.repeat(16) }))).toBeNull();
  });
});
