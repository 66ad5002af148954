import { isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { count, type Fields, list, object, text, lookupTable } from '../json/fields.ts';

/** OpenAI finish reasons, by Cohere's. All others are `stop`. */
const FINISH_REASONS = lookupTable<string>({ MAX_TOKENS: 'length', TOOL_CALL: 'tool_calls' });
/** HTTP statuses of the finish reasons that are failures. */
const FAILURE_STATUSES = lookupTable<string>({ ERROR: '500', ERROR_TOXIC: '500', TIMEOUT: '504' });

/** Error of a body, or of an answer that ends with a failure. Null when there is none. */
export function errorOf(value: unknown): AnswerError | null {
  const answer = object(value);
  const { message } = answer;
  if (typeof message === 'string') return { message, type: null, param: null, code: null };
  const ending = object(answer['type'] === 'message-end' ? answer['delta'] : answer);
  const reason = text(ending['finish_reason']);
  const code = reason === null ? undefined : FAILURE_STATUSES[reason];
  if (code === undefined || reason === null) return null;
  return { message: text(ending['error']) ?? `The answer ended with ${reason}.`, type: reason, param: null, code };
}

export const isAnswer = (value: unknown): boolean => isJsonObject(object(value)['message']);

/**
 * Usage from `billed_units`. A count that `billed_units` lacks comes from `tokens`, which includes tokens that are not
 * billed.
 */
function usageSteps(value: unknown): readonly AnswerStep[] {
  const usage = object(value);
  const billed = object(usage['billed_units']);
  const tokens = object(usage['tokens']);
  const inputTokens = count(billed['input_tokens']) ?? count(tokens['input_tokens']);
  const outputTokens = count(billed['output_tokens']) ?? count(tokens['output_tokens']);
  if (inputTokens === null && outputTokens === null) return [];
  const cacheReadTokens = Math.min(count(usage['cached_tokens']) ?? 0, inputTokens ?? 0);
  return [
    {
      kind: 'usage',
      usage: {
        inputTokens: inputTokens ?? 0,
        outputTokens: outputTokens ?? 0,
        cacheReadTokens,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
    },
  ];
}

const finishSteps = (reason: unknown): readonly AnswerStep[] =>
  typeof reason === 'string' ? [{ kind: 'finish', reason: FINISH_REASONS[reason] ?? 'stop' }] : [];

const textSteps = (kind: 'text' | 'reasoning', value: unknown): readonly AnswerStep[] =>
  typeof value === 'string' && value !== '' ? [{ kind, text: value }] : [];

function toolCallStep(item: unknown, index: number): Extract<AnswerStep, { kind: 'toolCall' }> {
  const call = object(item);
  const { name, arguments: piece } = object(call['function']);
  return { kind: 'toolCall', index, id: text(call['id']), name: text(name), arguments: text(piece) ?? '' };
}

const contentSteps = (content: Fields): readonly AnswerStep[] => [
  ...textSteps('reasoning', content['thinking']),
  ...textSteps('text', content['text']),
];

/** Steps of a complete answer. `citations` are dropped: `AnswerStep` has none. */
export function stepsOf(answer: unknown): readonly AnswerStep[] {
  const { id, message, finish_reason: reason, usage } = object(answer);
  const { content, tool_plan: plan, tool_calls: calls } = object(message);
  return [
    { kind: 'begin', id: text(id), model: null },
    ...textSteps('reasoning', plan),
    ...list(content).flatMap((item) => contentSteps(object(item))),
    ...list(calls).map(toolCallStep),
    ...finishSteps(reason ?? 'COMPLETE'),
    ...usageSteps(usage),
  ];
}

/** Reads a streamed answer. Each event has a `type`. */
export function createCohereReader(): AnswerReader {
  let callCount = 0;
  return {
    read(data) {
      const event = object(data);
      const delta = object(event['delta']);
      const message = object(delta['message']);
      switch (event['type']) {
        case 'message-start':
          return [{ kind: 'begin', id: text(event['id']), model: null }];
        case 'content-start':
        case 'content-delta':
          return contentSteps(object(message['content']));
        case 'tool-plan-delta':
          return textSteps('reasoning', message['tool_plan']);
        case 'tool-call-start':
          callCount += 1;
          return [toolCallStep(message['tool_calls'], callCount - 1)];
        case 'tool-call-delta':
          if (callCount === 0) return [];
          return [{ ...toolCallStep(message['tool_calls'], callCount - 1), id: null, name: null }];
        case 'message-end':
          return [...finishSteps(delta['finish_reason']), ...usageSteps(delta['usage'])];
        default:
          return [];
      }
    },
  };
}
