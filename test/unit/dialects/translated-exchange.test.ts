import { describe, expect, it } from 'vitest';
import { Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { CHAT_COMPLETIONS_IN } from '../../../src/wire/chat-completions/native.ts';
import { COHERE_OUT } from '../../../src/wire/cohere-chat/native.ts';
import { CONVERSE_OUT } from '../../../src/wire/converse/native.ts';
import type { OutboundDialect } from '../../../src/wire/dialect.ts';
import { GENERATE_CONTENT_IN } from '../../../src/wire/generate-content/native.ts';
import { OLLAMA_OUT } from '../../../src/wire/ollama-chat/native.ts';
import { RESPONSES_OUT } from '../../../src/wire/responses/native.ts';
import { translatedStream } from '../../../src/wire/translate.ts';
import { fedStream, gather } from '../../support/byte-streams.ts';

/** A generateContent request in another dialect, and the members that were not supported. */
function writeFor(
  dialect: OutboundDialect,
  body: object,
): { readonly body: unknown; readonly lost: readonly object[] } {
  const losses = new Losses();
  const chat = GENERATE_CONTENT_IN.readRequest({ contents: [], ...body }, losses);
  return { body: dialect.writeRequest(chat, losses), lost: losses.all() };
}

describe('a translated request', () => {
  const NO_THINKING = { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } };

  it('with a reasoning budget of zero disables reasoning', () => {
    const nova = writeFor(CONVERSE_OUT, { model: 'amazon.nova-pro-v1:0', ...NO_THINKING });
    const cohere = writeFor(COHERE_OUT, { model: 'command-a', ...NO_THINKING });
    expect([nova.lost, cohere.lost]).toEqual([[], []]);
    expect(nova.body).not.toHaveProperty('additionalModelRequestFields');
    expect(cohere.body).toMatchObject({ thinking: { type: 'disabled' } });
  });

  it.each([
    ['responses', RESPONSES_OUT],
    ['Cohere', COHERE_OUT],
    ['Converse', CONVERSE_OUT],
    ['Ollama', OLLAMA_OUT],
  ])('names the dropped signature of a tool call: %s', (_label, dialect) => {
    const call = { functionCall: { name: 'look', args: {} }, thoughtSignature: 'c2ln' };
    const { lost } = writeFor(dialect, { model: 'm', contents: [{ role: 'model', parts: [call] }] });
    expect(lost).toEqual([{ member: 'messages[0].tool_calls.proof', weight: 'hint' }]);
  });
});

describe('a translated stream', () => {
  it('ends with the failure of the upstream; later events of the same chunk are not written', () => {
    const source = fedStream();
    const writer = CHAT_COMPLETIONS_IN.writer({
      model: 'public',
      fallbackId: 'id',
      createdAt: 1,
      includeUsage: false,
      body: { model: 'public' },
    });
    const failed = ({ message }: { readonly message: string }): Error => new Error(`refused: ${message}`);
    const gathered = gather(translatedStream(source, RESPONSES_OUT.reader(), writer, { failed }));
    const event = (type: string, members: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
    const text = (delta: string): string => event('response.output_text.delta', { output_index: 0, delta });
    const error = { code: 'server_error', message: 'overloaded' };
    source.feed(
      `${text('before')}${event('response.failed', { response: { status: 'failed', error } })}${text('after')}`,
    );
    expect(gathered.text()).toContain('before');
    expect(gathered.text()).not.toContain('after');
    expect(gathered.end).toEqual(new Error('refused: overloaded'));
    expect(source.cancelled).toBe(true);
  });
});
