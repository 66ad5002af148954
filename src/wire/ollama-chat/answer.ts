import { isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { count, type Fields, list, object, text } from '../json/fields.ts';

/** Error of a body or of a line. Null when there is none. */
export function errorOf(value: unknown): AnswerError | null {
  const { error } = object(value);
  return typeof error === 'string' ? { message: error, type: null, param: null, code: null } : null;
}

export const isAnswer = (value: unknown): boolean => isJsonObject(object(value)['message']);

/** Reads usage, which only the last line of an answer has. */
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

/** Reads an answer. Each line of a stream has the form of a complete answer, with a piece of the message. */
export function createOllamaReader(): AnswerReader {
  let hasBegun = false;
  let callCount = 0;

  function toolCallStep(item: unknown): AnswerStep {
    const { id, function: calledFunction } = object(item);
    const { name, arguments: input } = object(calledFunction);
    const index = callCount;
    callCount += 1;
    return {
      kind: 'toolCall',
      index,
      id: text(id) ?? `call_${crypto.randomUUID()}`,
      name: text(name),
      arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
    };
  }

  return {
    read(data) {
      const line = object(data);
      if (!isJsonObject(line['message'])) return [];
      const { content, thinking, tool_calls: toolCalls } = line['message'];
      const steps: AnswerStep[] = hasBegun ? [] : [{ kind: 'begin', id: null, model: text(line['model']) }];
      hasBegun = true;
      if (typeof thinking === 'string' && thinking !== '') steps.push({ kind: 'reasoning', text: thinking });
      if (typeof content === 'string' && content !== '') steps.push({ kind: 'text', text: content });
      steps.push(...list(toolCalls).map(toolCallStep));
      if (line['done'] === true) {
        const completeReason = callCount > 0 ? 'tool_calls' : 'stop';
        const reason = line['done_reason'] === 'length' ? 'length' : completeReason;
        steps.push({ kind: 'finish', reason }, ...usageSteps(line));
      }
      return steps;
    },
  };
}
