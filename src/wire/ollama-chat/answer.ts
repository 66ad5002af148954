import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { count, type Fields, isObject, list, object, text } from '../json/fields.ts';

/** The failure that a body or a line is. */
export function errorOf(value: unknown): AnswerError | null {
  const { error } = object(value);
  return typeof error === 'string' ? { message: error, type: null, param: null, code: null } : null;
}

export const isAnswer = (value: unknown): boolean => isObject(object(value)['message']);

/** Counts stand beside the end of an answer. */
function usageSteps(line: Fields): readonly AnswerStep[] {
  const inputTokens = count(line['prompt_eval_count']);
  const outputTokens = count(line['eval_count']);
  if (inputTokens === null && outputTokens === null) return [];
  return [
    {
      kind: 'usage',
      usage: {
        inputTokens: inputTokens ?? 0,
        outputTokens: outputTokens ?? 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
    },
  ];
}

/** Reads an answer: one line of a stream is like a whole answer, with a piece of its message. */
export function createOllamaReader(): AnswerReader {
  let begun = false;
  let calls = 0;

  function callOf(item: unknown): AnswerStep {
    const { id, function: called } = object(item);
    const { name, arguments: given } = object(called);
    const index = calls;
    calls += 1;
    return {
      kind: 'toolCall',
      index,
      id: text(id) ?? `call_${crypto.randomUUID()}`,
      name: text(name),
      arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
    };
  }

  return {
    read(data) {
      const line = object(data);
      if (!isObject(line['message'])) return [];
      const { content, thinking, tool_calls: called } = line['message'];
      const steps: AnswerStep[] = begun ? [] : [{ kind: 'begin', id: null, model: text(line['model']) }];
      begun = true;
      if (typeof thinking === 'string' && thinking !== '') steps.push({ kind: 'reasoning', text: thinking });
      if (typeof content === 'string' && content !== '') steps.push({ kind: 'text', text: content });
      steps.push(...list(called).map(callOf));
      if (line['done'] === true) {
        const ended = line['done_reason'] === 'length' ? 'length' : calls > 0 ? 'tool_calls' : 'stop';
        steps.push({ kind: 'finish', reason: ended }, ...usageSteps(line));
      }
      return steps;
    },
  };
}
