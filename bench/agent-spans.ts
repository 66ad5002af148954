import { randomBytes } from 'node:crypto';
import type { ExportedSpan } from '../src/domain/traces/exported-span.ts';
import { encodeExport } from '../src/wire/otlp/encode.ts';

const SYLLABLES = [
  'ta',
  're',
  'mo',
  'li',
  'ken',
  'sor',
  'pi',
  'vas',
  'den',
  'qua',
  'ulo',
  'fer',
  'in',
  'ost',
  'ga',
  'thi',
];
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet', 'gemini-flash', 'llama-70b'];
const SENDER = {
  resource: { 'service.name': 'bench-agent', 'service.version': '1.2.3', 'telemetry.sdk.language': 'nodejs' },
  scope: { name: 'bench.instrumentation', version: '0.1.0' },
};

/** Seeded random numbers from 0 to below 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
  };
}

const randomId = (bytes: number): string => randomBytes(bytes).toString('hex');

/**
 * Creates a function that makes exports like those of agents: 2.8 kB a span, by default ten spans a trace, texts that
 * compress like prose. The id source is called with a number of bytes: 16 for a trace, then 8 for each of its spans.
 */
export function agentSpans(seed: number, idOf: (bytes: number) => string = randomId) {
  const draw = random(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(draw() * items.length)] as Item;
  const vocabulary = Array.from({ length: 3_000 }, () =>
    Array.from({ length: 1 + Math.floor(draw() * 4) }, () => pick(SYLLABLES)).join(''),
  );
  function words(characters: number): string {
    let text = '';
    // The exponent makes the first words of the vocabulary frequent and the last ones rare, as in prose.
    while (text.length < characters) text += `${vocabulary[Math.floor(vocabulary.length * draw() ** 2.2)]} `;
    return text.slice(0, characters);
  }
  const message = (role: string, content: string): string =>
    JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);

  function aSpan(traceId: string, parentSpanId: string | null, spanId: string, nowMs: number): ExportedSpan {
    const startNs = BigInt(nowMs - Math.floor(draw() * 60_000)) * 1_000_000n;
    const model = pick(MODELS);
    const root = parentSpanId === null;
    return {
      traceId,
      spanId,
      parentSpanId,
      name: root ? 'invoke_agent planner' : `chat ${model}`,
      kind: root ? 'INTERNAL' : 'CLIENT',
      startNs,
      endNs: startNs + BigInt(Math.floor(draw() * 3e9)),
      status: draw() < 0.03 ? 'error' : 'ok',
      statusMessage: '',
      attributes: {
        'gen_ai.operation.name': root ? 'invoke_agent' : 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': model,
        'gen_ai.response.model': `${model}-2026`,
        'gen_ai.request.temperature': 0.7,
        'gen_ai.request.max_tokens': 1_024,
        'gen_ai.usage.input_tokens': 100 + Math.floor(draw() * 900),
        'gen_ai.usage.output_tokens': 20 + Math.floor(draw() * 300),
        'gen_ai.response.id': `resp_${spanId}`,
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.conversation.id': `conv_${traceId.slice(0, 12)}`,
        'gen_ai.agent.name': 'planner',
        'server.address': 'api.example.test',
        'gen_ai.input.messages': message('user', words(1_000 + Math.floor(draw() * 1_000))),
        'gen_ai.output.messages': message('assistant', words(500)),
      },
    };
  }

  /** One export. With the default id source all its ids are new. */
  return function makeExport(spans: number, format: 'protobuf' | 'json' = 'protobuf', spansPerTrace = 10): Uint8Array {
    let traceId = '';
    let root = '';
    const now = Date.now();
    const exported = Array.from({ length: spans }, (_, at) => {
      const first = at % spansPerTrace === 0;
      if (first) traceId = idOf(16);
      const spanId = idOf(8);
      if (first) root = spanId;
      return aSpan(traceId, first ? null : root, spanId, now);
    });
    return encodeExport(exported, SENDER, format).body;
  };
}
