import { describe, expect, it } from 'vitest';
import type { AnswerStep } from '../../../src/domain/chat/answer-step.ts';
import { Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { CHAT_COMPLETIONS_IN } from '../../../src/wire/chat-completions/native.ts';
import type { OutboundDialect } from '../../../src/wire/dialect.ts';
import { stepsOfEvents, translatedStream } from '../../../src/wire/translate.ts';
import { fedStream, gather } from '../../support/byte-streams.ts';
import { joinedSteps } from '../../support/random-answer.ts';

const failed = (): Error => new Error('an answer said that it failed');
const CONTEXT = { model: 'm', fallbackId: 'f', createdAt: 1, includeUsage: true, body: {} };

/** Sample of an upstream answer, whole and streamed, with the expected steps of both. */
interface SampleAnswer {
  readonly whole: unknown;
  /** Server-sent events. */
  readonly stream: string;
  readonly steps: readonly AnswerStep[];
}

/** Contract of an outbound-only dialect: whole and streamed answers, in any chunks, give the same steps. */
export function sampleAnswersSuite(
  dialect: string,
  outbound: OutboundDialect,
  answers: Readonly<Record<string, SampleAnswer>>,
): void {
  describe(`answers of ${dialect}`, () => {
    it.each(Object.entries(answers))(
      'have the same content whole and streamed: %s',
      (_name, { whole, stream, steps }) => {
        expect(joinedSteps(outbound.stepsOf(whole))).toEqual(steps);
        expect(joinedSteps(stepsOfEvents(Buffer.from(stream), outbound.reader()))).toEqual(steps);
      },
    );

    it.each(Object.entries(answers))('are the same for any chunk boundaries: %s', (_name, { stream }) => {
      const bytes = Buffer.from(stream);
      const texts = [1, 2, 3, 7, 64, bytes.length].map((size) => {
        const source = fedStream();
        const gathered = gather(
          translatedStream(source, outbound.reader(), CHAT_COMPLETIONS_IN.writer(CONTEXT), { failed }),
        );
        for (let offset = 0; offset < bytes.length; offset += size) source.feed(bytes.subarray(offset, offset + size));
        source.finish();
        return gathered.text();
      });
      expect(texts[0]).toContain('finish_reason');
      expect(new Set(texts).size).toBe(1);
    });

    it('that are malformed are read without an error', () => {
      const reader = outbound.reader();
      for (const malformed of [
        null,
        undefined,
        1,
        'x',
        [],
        {},
        { type: 7 },
        { message: 5 },
        { delta: [] },
        { usage: 'x' },
      ])
        for (const eventName of [null, 'contentBlockDelta', 'metadata', 'odd'])
          expect(() => reader.read(malformed, eventName)).not.toThrow();
      for (const malformed of [null, undefined, [], {}, 'x', { message: { content: 4, tool_calls: [null] } }])
        expect(() => outbound.stepsOf(malformed)).not.toThrow();
    });
  });
}

/**
 * Function that converts a chat completion request to an upstream dialect. It returns the body and the unsupported
 * members.
 */
export function writtenBy(outbound: OutboundDialect) {
  return (body: Record<string, unknown>): { readonly body: unknown; readonly lost: readonly object[] } => {
    const losses = new Losses();
    const chat = CHAT_COMPLETIONS_IN.readRequest({ model: 'm', messages: [], ...body }, losses);
    return { body: outbound.writeRequest(chat, losses), lost: losses.all() };
  };
}

/** Chat completion request with all features that most upstreams support. */
export const RICH_CHAT: Record<string, unknown> = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      ],
    },
    {
      role: 'assistant',
      content: 'Looking.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
        { id: 'call_2', type: 'function', function: { name: 'look', arguments: '' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    { role: 'tool', tool_call_id: 'call_2', content: 'a dog' },
    { role: 'user', content: 'And?' },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
    },
  ],
  tool_choice: 'auto',
  max_tokens: 2000,
  temperature: 0,
  top_p: 0.5,
  stop: ['END'],
};
