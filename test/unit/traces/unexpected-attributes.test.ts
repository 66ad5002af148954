import { describe, expect, it } from 'vitest';
import { attributeText } from '../../../src/domain/traces/attribute-text.ts';
import { CONVENTIONS } from '../../../src/domain/traces/conventions/precedence.ts';
import { readSpans } from '../../support/read-spans.ts';
import { type AttributeValue, type RawSpan, SPAN_TYPES } from '../../../src/domain/traces/span.ts';
import { tokenDetailsOf } from '../../../src/domain/traces/token-details.ts';
import { truncateText } from '../../../src/domain/traces/truncate.ts';
import { seeded } from '../../support/random-export.ts';
import { aRawSpan } from '../../support/raw-span.ts';
import { recordedSpans, recordings } from '../../support/recorded-spans.ts';

const MAX_BYTES = 4_096;
const MAX_TOKENS = 2 ** 32 - 1;
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Values that no convention defines for any attribute. */
const UNEXPECTED_VALUES: readonly AttributeValue[] = [
  '',
  ' ',
  'null',
  '"text"',
  '[',
  '{"messages":[[]]}',
  '{"messages":{"role":"user"}}',
  '[null]',
  '[{"role":7,"content":{}}]',
  '[{"role":"user","content":[{"type":"tool-call"},{"type":[]},{"toolUse":{}},{"toolResult":{"content":7}}]}]',
  '[{"role":"user","parts":[{"type":"tool_result"}],"tool_calls":[1,{"function":null}]}]',
  '{"generations":[[{"message":{"kwargs":null}}]],"output":{"update":{"messages":[{}]}}}',
  '{"system":{},"prompt":[1],"messages":"x"}',
  '{"__proto__":{"role":"user"},"constructor":1}',
  `[{"role":"user","content":[{"type":"text","text":${deep(20_000)}}]}]`,
  deep(20_000),
  'x'.repeat(100_000),
  `[${'{"role":"user","content":"again"},'.repeat(3_000)}{"role":"user","content":"last"}]`,
  '\ud800',
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2n ** 63n,
  true,
  null,
  new Uint8Array([0xff, 0x00]),
  [],
  [[], {}, null, 'x'],
  { role: 'user', content: { deeper: [1] } },
];

/** All spans of all recordings. */
const recorded = recordings.flatMap(recordedSpans);
/** All attribute names of these spans. */
const names = [...new Set(recorded.flatMap(({ attributes }) => Object.keys(attributes)))];

/** A recorded span. Some of its attributes, and all attributes of its events, have unexpected values. */
function spanWithUnexpectedValues(draw: (below: number) => number): RawSpan {
  const span = recorded[draw(recorded.length)] ?? aRawSpan();
  const attributes: Record<string, AttributeValue> = { ...span.attributes };
  const unexpectedValue = (): AttributeValue => UNEXPECTED_VALUES[draw(UNEXPECTED_VALUES.length)] ?? null;
  for (const key of Object.keys(attributes)) if (draw(3) === 0) attributes[key] = unexpectedValue();
  // Adds names of other conventions, so that several conventions recognise the span.
  for (let added = draw(6); added > 0; added--) attributes[names[draw(names.length)] ?? ''] = unexpectedValue();
  const events = span.events.map((event) => ({
    ...event,
    attributes: Object.fromEntries(Object.keys(event.attributes).map((key) => [key, unexpectedValue()])),
  }));
  return { ...span, attributes, events };
}

describe('an unexpected attribute', () => {
  it('does not cause an error, and stays unchanged unless it becomes input or output', () => {
    const draw = seeded(11);
    for (let round = 0; round < 1_000; round++) {
      const raw = spanWithUnexpectedValues(draw);
      const [span] = readSpans([raw], { teamId: null, keyHash: 'k' }, MAX_BYTES);
      if (span === undefined) throw new Error('The span was not read.');
      expect(SPAN_TYPES).toContain(span.type);
      for (const count of [span.inputTokens, span.outputTokens, ...Object.values(tokenDetailsOf(span.attributes))])
        expect((count ?? 0) >= 0 && (count ?? 0) <= MAX_TOKENS && Number.isInteger(count ?? 0)).toBe(true);
      const lost = Object.entries(raw.attributes).filter(([key, value]) => {
        const attribute = span.attributes[key];
        const isInputOrOutput = attribute === undefined && span.input + span.output !== '';
        return !isInputOrOutput && attribute !== truncateText(attributeText(value), MAX_BYTES);
      });
      expect(lost).toEqual([]);
    }
  });
});

describe('the conventions that recognise a span', () => {
  it('are all whose attributes or scope the span has, in a fixed order', () => {
    const recognisers = (attributes: RawSpan['attributes'], scope = '') =>
      CONVENTIONS.filter((convention) =>
        convention.recognises(
          aRawSpan({ attributes, instrumentationScope: { name: scope, version: '', attributes: {} } }),
        ),
      ).map(({ name }) => name);
    const attributesOfAll = {
      'langsmith.span.kind': 'llm',
      'openinference.span.kind': 'LLM',
      'traceloop.span.kind': 'task',
      'ai.operationId': 'ai.generateText',
      'logfire.span_type': 'span',
    };
    expect(recognisers(attributesOfAll, 'com.anthropic.claude_code.tracing')).toEqual([
      'claude-code',
      'langsmith',
      'openinference',
      'traceloop',
      'ai-sdk',
      'logfire',
      'gen_ai',
    ]);
    expect(recognisers({}, 'langsmith')).toEqual(['langsmith', 'gen_ai']);
    expect(recognisers({}, 'pydantic-ai')).toEqual(['logfire', 'gen_ai']);
    expect(recognisers({})).toEqual(['gen_ai']);
  });
});
