import { describe, expect, it } from 'vitest';
import {
  decodeAnswer,
  encodeAnswer,
  isStorableAnswer,
  type StoredAnswer,
} from '../../../src/domain/response-cache/stored-answer.ts';
import { CHAT_COMPLETIONS, EMBEDDINGS } from '../../../src/domain/inference/endpoint.ts';

const answer: StoredAnswer = {
  storedAtMs: 5,
  streaming: true,
  contentType: 'text/event-stream',
  dropped: ['seed'],
  outcome: { responseId: 'r\n1', responseModel: null, finishReason: 'stop', usage: null, text: 'ä' },
  body: new TextEncoder().encode('data: {"a":1}\n\ndata: [DONE]\n\n'),
};
const outcome = { ...answer.outcome, failure: null };

describe('an encoded answer', () => {
  it('is decoded to an equal answer', () => {
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  });

  it.each(['', 'no line end', '{}\nbody', '{"version":2,"outcome":{}}\nbody', 'broken\n', '[]\n'])(
    'of invalid bytes is null: %j',
    (text) => {
      expect(decodeAnswer(new TextEncoder().encode(text))).toBeNull();
    },
  );
});

describe('a storable answer', () => {
  it('of a conversation has a finish reason; it has status 200 and no failure', () => {
    expect(isStorableAnswer({ status: 200 }, outcome, CHAT_COMPLETIONS)).toBe(true);
    expect(isStorableAnswer({ status: 200 }, { ...outcome, finishReason: null }, CHAT_COMPLETIONS)).toBe(false);
    expect(isStorableAnswer({ status: 200 }, { ...outcome, finishReason: null }, EMBEDDINGS)).toBe(true);
    expect(isStorableAnswer({ status: 206 }, outcome, EMBEDDINGS)).toBe(false);
    const failure = { message: 'm', code: 'c' };
    expect(isStorableAnswer({ status: 200 }, { ...outcome, failure }, CHAT_COMPLETIONS)).toBe(false);
  });
});
