import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerReader, OutboundDialect } from '../dialect.ts';
import { deltasOfAnswer, deltasOfChunk, factsOf } from './answer.ts';
import { type ChatCompletionsForm, writeChat } from './write-request.ts';

/** Dialect of chat-completions upstreams, for callers of other dialects. */
export function chatCompletionsOut(form: ChatCompletionsForm): OutboundDialect {
  return {
    writeRequest: (chat, losses) => writeChat(chat, losses, form),
    reader: createChunkReader,
    stepsOf: (answer) => [beginOf(answer), ...deltasOfAnswer(answer)],
  };
}

function createChunkReader(): AnswerReader {
  let hasBegun = false;
  return {
    read(data) {
      const deltas = deltasOfChunk(data);
      const begin = beginOf(data);
      if (hasBegun || (begin.id === null && deltas.length === 0)) return deltas;
      hasBegun = true;
      return [begin, ...deltas];
    },
  };
}

function beginOf(answer: unknown): Extract<AnswerStep, { kind: 'begin' }> {
  const { id, model } = factsOf(answer);
  return { kind: 'begin', id, model };
}
