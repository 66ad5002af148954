import { describe, expect, it } from 'vitest';
import { Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { CHAT_COMPLETIONS_IN } from '../../../src/wire/chat-completions/native.ts';
import { createCohereReader } from '../../../src/wire/cohere-chat/answer.ts';
import type { InboundDialect } from '../../../src/wire/dialect.ts';
import { GENERATE_CONTENT_IN } from '../../../src/wire/generate-content/native.ts';
import { finishReasonOf } from '../../../src/wire/messages/message.ts';
import { RESPONSES_IN } from '../../../src/wire/responses/native.ts';

/** Names that every object inherits. */
const INHERITED = '"__proto__": 1, "__defineGetter__": 1, "hasOwnProperty": "n", "constructor": {}';
const NAMES = ['__proto__', '__defineGetter__', 'hasOwnProperty', 'constructor'];

function lossesOf(dialect: InboundDialect, json: string): readonly string[] {
  const losses = new Losses();
  dialect.readRequest(JSON.parse(json) as Record<string, unknown>, losses);
  return losses.all().map(({ member, weight }) => `${weight} ${member}`);
}

describe('names that every object inherits', () => {
  it.each([
    ['chat completions', CHAT_COMPLETIONS_IN, `{"model": "m", "messages": [], ${INHERITED}}`],
    ['responses', RESPONSES_IN, `{"model": "m", "input": "hi", ${INHERITED}}`],
  ])('are unsupported members of %s', (_what, dialect, json) => {
    expect(lossesOf(dialect, json)).toEqual(NAMES.map((name) => `essential ${name}`));
  });

  it('are unsupported members of generationConfig', () => {
    const json = '{"contents": [], "generationConfig": {"hasOwnProperty": "candidateCount", "constructor": {}}}';
    expect(lossesOf(GENERATE_CONTENT_IN, json)).toEqual([
      'essential generationConfig.hasOwnProperty',
      'essential generationConfig.constructor',
    ]);
  });

  it('are unknown finish reasons of an answer', () => {
    expect(finishReasonOf('constructor')).toBe('stop');
    const end = { type: 'message-end', delta: { finish_reason: 'toString' } };
    expect(createCohereReader().read(end, null)).toEqual([{ kind: 'finish', reason: 'stop' }]);
  });
});
