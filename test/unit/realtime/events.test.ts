import { describe, expect, it } from 'vitest';
import { Forbidden, InvalidInput } from '../../../src/domain/errors.ts';
import type { SocketMessage } from '../../../src/domain/realtime/sockets.ts';
import { translateClientEvent } from '../../../src/wire/realtime/client-event.ts';
import { errorEvent } from '../../../src/wire/realtime/error-event.ts';
import { translateServerEvent } from '../../../src/wire/realtime/server-event.ts';
import { randomFrom } from '../../support/random.ts';

const NAMES = { publicName: 'voice', upstreamName: 'gpt-realtime' };
const text = (content: string): SocketMessage => ({ bytes: Buffer.from(content), binary: false });
const textOf = ({ bytes }: SocketMessage): string => Buffer.from(bytes).toString('utf8');

/** The forwarded form of a caller's event. The caller may call `voice` and `whisper-1`. */
function forwarded(event: string): string {
  return textOf(
    translateClientEvent(text(event), NAMES, (model) => {
      if (model !== 'voice' && model !== 'whisper-1') throw new Forbidden(model, 'model');
    }),
  );
}

describe('an event of the caller', () => {
  it.each([
    '{"type":"input_audio_buffer.append","audio":"AAAA"}',
    '{"type":"conversation.item.create","item":{"content":[{"text":"which \\"model\\"?"}]}}',
    '[1,2]',
    '',
  ])('without a model name is forwarded unchanged: %s', (event) => {
    expect(forwarded(event)).toBe(event);
  });

  it.each([
    ['{"session":{"model":"voice"}}', '{"session":{"model":"gpt-realtime"}}'],
    ['{"session":{"model":null}}', '{"session":{"model":null}}'],
    [
      '{"session":{"input_audio_transcription":{"model":"whisper-1"}}}',
      '{"session":{"input_audio_transcription":{"model":"whisper-1"}}}',
    ],
    [
      '{"session":{"type":"transcription","audio":{"input":{"transcription":{"model":"voice"}}}}}',
      '{"session":{"type":"transcription","audio":{"input":{"transcription":{"model":"gpt-realtime"}}}}}',
    ],
    ['{"model":"voice"}', '{"model":"gpt-realtime"}'],
    // Only the last of repeated members is used and forwarded.
    ['{"session":{"model":"other"},"session":{"model":"voice"}}', '{"session":{"model":"gpt-realtime"}}'],
    // A tool of the caller may have a parameter with this name.
    [
      '{"session":{"tools":[{"parameters":{"properties":{"model":{"type":"string"}}}}]}}',
      '{"session":{"tools":[{"parameters":{"properties":{"model":{"type":"string"}}}}]}}',
    ],
  ])('%s is forwarded as %s', (event, expected) => {
    expect(forwarded(event)).toBe(expected);
  });

  it.each([
    ['{"session":{"model":"other"}}', Forbidden],
    // The caller may call this model, but a session keeps its own.
    ['{"session":{"model":"whisper-1"}}', InvalidInput],
    ['{"session":{"model":"gpt-realtime"}}', Forbidden],
    ['{"session":{"model":"voice"},"session":{"model":"other"}}', Forbidden],
    ['{"response":{"model":"other"}}', Forbidden],
    ['{"session":{"audio":{"input":{"transcription":{"model":"other"}}}}}', Forbidden],
    ['{"\\u0073ession":{"\\u006dodel":"other"}}', Forbidden],
    ['{"session":{"model":7}}', InvalidInput],
    // An event that contains `"model"` is parsed: it must be an object, and not be nested too deeply.
    ['["model"]', InvalidInput],
    [`{"model":${'['.repeat(600)}${']'.repeat(600)}}`, InvalidInput],
  ])('%s is not forwarded', (event, kind) => {
    expect(() => forwarded(event)).toThrow(kind);
  });

  it('never sends the name of a forbidden model to an upstream, in any notation', () => {
    const random = randomFrom(20261121);
    const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
    const escapedAtRandom = (name: string): string =>
      name.replace(/./g, (letter) =>
        random(3) === 0 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
      );
    const results: string[] = [];
    for (let events = 0; events < 2_000; events += 1) {
      const space = pick(['', ' \n']);
      const model = pick(['other', 'voice', 'whisper-1', 'gpt-realtime']);
      const member = `"${escapedAtRandom('model')}"${space}:${space}"${escapedAtRandom(model)}"`;
      const event = `{"type":"session.update",${space}"${escapedAtRandom('session')}":{"a":"\\"model\\"",${member}}}`;
      try {
        results.push(`${model} as ${JSON.parse(forwarded(event)).session.model}`);
      } catch (error) {
        results.push(`${model} refused as ${(error as Error).name}`);
      }
    }
    expect([...new Set(results)].toSorted()).toEqual([
      'gpt-realtime refused as Forbidden',
      'other refused as Forbidden',
      'voice as gpt-realtime',
      'whisper-1 refused as InvalidInput',
    ]);
  });
});

describe('an event of the upstream', () => {
  const readEvent = (event: string) => {
    const { message, fact } = translateServerEvent(text(event), NAMES);
    return [textOf(message), fact];
  };

  it('that the gateway does not read is forwarded unchanged, also invalid JSON', () => {
    for (const event of ['{"type":"a","delta":"\\"usage\\""}', '{"usage"', '"model"', `{"model":${'['.repeat(600)}`])
      expect(readEvent(event)).toEqual([event, null]);
    const binaryMessage = { bytes: Buffer.from('{"model":1}'), binary: true };
    expect(translateServerEvent(binaryMessage, NAMES)).toEqual({ message: binaryMessage, fact: null });
  });

  it('that describes the session is read, and forwarded with the public name of the model', () => {
    expect(
      readEvent(
        '{"type":"session.updated","session":{"id":"s","model":"gpt-realtime-2025","audio":{"input":{"transcription":{"model":"whisper-1"}}}}}',
      ),
    ).toEqual([
      '{"type":"session.updated","session":{"id":"s","model":"voice","audio":{"input":{"transcription":{"model":"whisper-1"}}}}}',
      { kind: 'session', id: 's', model: 'gpt-realtime-2025', transcriptionModel: 'whisper-1' },
    ]);
    expect(
      readEvent(
        '{"type":"transcription_session.created","session":{"id":"s","input_audio_transcription":{"model":"gpt-realtime"}}}',
      ),
    ).toEqual([
      '{"type":"transcription_session.created","session":{"id":"s","input_audio_transcription":{"model":"voice"}}}',
      { kind: 'session', id: 's', model: null, transcriptionModel: 'gpt-realtime' },
    ]);
  });

  it('that ends a response is read with its usage', () => {
    const usage = {
      input_tokens: 9,
      output_tokens: 4,
      input_token_details: {
        audio_tokens: 5,
        image_tokens: 3,
        cached_tokens: 3,
        cached_tokens_details: { audio_tokens: 2, image_tokens: 1 },
      },
      output_token_details: { audio_tokens: 1 },
    };
    const [, fact] = readEvent(JSON.stringify({ type: 'response.done', response: { usage } }));
    expect(fact).toEqual({
      kind: 'used',
      by: 'session',
      usage: {
        inputTokens: 9,
        outputTokens: 4,
        cacheReadTokens: 3,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        audio: { inputTokens: 5, outputTokens: 1, cacheReadTokens: 2 },
        image: { inputTokens: 3, outputTokens: 0, cacheReadTokens: 1 },
      },
    });
  });

  it.each([
    ['{"type":"response.done","response":{"usage":null}}', null],
    ['{"type":"response.done","response":{"usage":{"total_tokens":1}}}', null],
    ['{"type":"response.created","response":{"usage":{"input_tokens":1}}}', null],
    ['{"type":"conversation.item.input_audio_transcription.completed","usage":{"type":"duration","seconds":-5}}', null],
    [
      '{"type":"conversation.item.input_audio_transcription.completed","usage":{"type":"duration","seconds":5.5}}',
      { kind: 'used', by: 'transcription', usage: null, measured: { unit: 'second', count: 5.5 } },
    ],
    ['{"type":"error","error":{"message":"no"}}', { kind: 'error', message: 'no' }],
    ['{"type":"error","error":"no"}', { kind: 'error', message: 'The upstream gave no reason.' }],
  ])('%s is read as %j', (event, fact) => {
    expect(readEvent(event)).toEqual([event, fact]);
  });

  it('is read with zero for each invalid count of tokens', () => {
    const invalid =
      '{"type":"response.done","response":{"usage":{"input_tokens":-1,"output_tokens":"7","input_token_details":[]}}}';
    expect(readEvent(invalid)[1]).toMatchObject({ kind: 'used', usage: { inputTokens: 0, outputTokens: 0 } });
  });
});

it('an error of the gateway has the id of the event that caused it, if that event has an id', () => {
  const details = { message: 'no', type: null, param: null, code: '500' };
  const idFor = (about: string | null): unknown =>
    JSON.parse(textOf(errorEvent('event_1', details, about === null ? null : text(about)))).error.event_id;
  expect([idFor(null), idFor('{"event_id":"mine"}'), idFor('{"event_id":7}'), idFor('no JSON')]).toEqual([
    null,
    'mine',
    null,
    null,
  ]);
  expect(textOf(errorEvent('event_1', details, null))).toBe(
    '{"type":"error","event_id":"event_1","error":{"type":"server_error","code":"500","message":"no","param":null,"event_id":null}}',
  );
});
