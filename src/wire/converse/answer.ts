import { isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { count, type Fields, list, object, text, lookupTable } from '../json/fields.ts';

/** OpenAI finish reasons, by Converse stop reasons. All others are `stop`. */
const FINISH_REASONS = lookupTable<string>({
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
});

/** HTTP statuses, by the name of an exception inside a stream. */
const EXCEPTION_STATUSES = lookupTable<string>({
  validationException: '400',
  accessDeniedException: '403',
  resourceNotFoundException: '404',
  modelTimeoutException: '408',
  modelErrorException: '424',
  modelStreamErrorException: '424',
  modelNotReadyException: '429',
  throttlingException: '429',
  internalServerException: '500',
  serviceUnavailableException: '503',
});

/**
 * Error of an event or a body. Null when there is none. The reader of AWS event streams sets `exception` to the name of
 * an exception.
 */
export function errorOf(value: unknown): AnswerError | null {
  const { exception, message, Message: capitalizedMessage, __type: type, output } = object(value);
  const errorMessage = text(message) ?? text(capitalizedMessage);
  if (typeof exception === 'string') {
    const name = exception.charAt(0).toLowerCase() + exception.slice(1);
    return {
      message: errorMessage || exception,
      type: exception,
      param: null,
      code: EXCEPTION_STATUSES[name] ?? '500',
    };
  }
  if (errorMessage === null || output !== undefined) return null;
  return { message: errorMessage, type: text(type)?.replace(/^.*#/, '') ?? null, param: null, code: null };
}

export const isAnswer = (value: unknown): boolean => isJsonObject(object(object(value)['output'])['message']);

/** Usage. Converse reports cached tokens separately from `inputTokens`. */
function usageSteps(value: unknown): readonly AnswerStep[] {
  const usage = object(value);
  const uncachedTokens = count(usage['inputTokens']);
  const outputTokens = count(usage['outputTokens']);
  if (uncachedTokens === null && outputTokens === null) return [];
  const cacheReadTokens = count(usage['cacheReadInputTokens']) ?? 0;
  const cacheWriteTokens = count(usage['cacheWriteInputTokens']) ?? 0;
  const tokens: Usage = {
    inputTokens: (uncachedTokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: 0,
  };
  return [{ kind: 'usage', usage: tokens }];
}

const finishStep = (stopReason: string, hasCalls: boolean): AnswerStep => {
  const finishReason = FINISH_REASONS[stopReason] ?? 'stop';
  return { kind: 'finish', reason: hasCalls && finishReason === 'stop' ? 'tool_calls' : finishReason };
};

const BEGIN: AnswerStep = { kind: 'begin', id: null, model: null };

/** Steps of a complete answer. */
export function stepsOf(answer: unknown): readonly AnswerStep[] {
  const { output, stopReason, usage } = object(answer);
  let callCount = 0;
  const content = list(object(object(output)['message'])['content']).flatMap((item): readonly AnswerStep[] => {
    const block = object(item);
    if (isJsonObject(block['toolUse'])) {
      const { toolUseId, name, input } = block['toolUse'];
      const index = callCount;
      callCount += 1;
      return [
        { kind: 'toolCall', index, id: text(toolUseId), name: text(name), arguments: JSON.stringify(input ?? {}) },
      ];
    }
    const { reasoningText, redactedContent } = object(block['reasoningContent']);
    const cited = list(object(block['citationsContent'])['content']).map((one) => text(object(one)['text']) ?? '');
    return [
      ...textSteps('text', block['text'] ?? cited.join('')),
      ...textSteps('reasoning', object(reasoningText)['text']),
      ...proofSteps('reasoningProof', object(reasoningText)['signature']),
      ...proofSteps('redactedReasoning', redactedContent),
    ];
  });
  return [BEGIN, ...content, finishStep(text(stopReason) ?? '', callCount > 0), ...usageSteps(usage)];
}

const textSteps = (kind: 'text' | 'reasoning', value: unknown): readonly AnswerStep[] =>
  typeof value === 'string' && value !== '' ? [{ kind, text: value }] : [];

const proofSteps = (kind: 'reasoningProof' | 'redactedReasoning', value: unknown): readonly AnswerStep[] =>
  typeof value === 'string' && value !== '' ? [{ kind, proof: value }] : [];

/** Reads a streamed answer. The name of an event is its type. */
export function createConverseReader(): AnswerReader {
  /** Indexes of the content blocks that are tool calls, in call order. */
  const callBlocks: number[] = [];
  /** Received part of the signature of a reasoning block. */
  let partialProof = '';

  function readDelta(event: Fields): readonly AnswerStep[] {
    const delta = object(event['delta']);
    const { text: reasoning, signature, redactedContent } = object(delta['reasoningContent']);
    if (typeof signature === 'string') partialProof += signature;
    if (isJsonObject(delta['toolUse'])) {
      const index = callBlocks.indexOf(count(event['contentBlockIndex']) ?? -1);
      const piece = text(delta['toolUse']['input']) ?? '';
      return index === -1 ? [] : [{ kind: 'toolCall', index, id: null, name: null, arguments: piece }];
    }
    return [
      ...textSteps('text', delta['text']),
      ...textSteps('reasoning', reasoning),
      ...proofSteps('redactedReasoning', redactedContent),
    ];
  }

  return {
    read(data, name) {
      const event = object(data);
      switch (name ?? '') {
        case 'messageStart':
          return [BEGIN];
        case 'contentBlockStart': {
          const { toolUseId, name: tool } = object(object(event['start'])['toolUse']);
          if (typeof toolUseId !== 'string') return [];
          callBlocks.push(count(event['contentBlockIndex']) ?? callBlocks.length);
          return [{ kind: 'toolCall', index: callBlocks.length - 1, id: toolUseId, name: text(tool), arguments: '' }];
        }
        case 'contentBlockDelta':
          return readDelta(event);
        case 'contentBlockStop': {
          const steps = proofSteps('reasoningProof', partialProof);
          partialProof = '';
          return steps;
        }
        case 'messageStop':
          return [finishStep(text(event['stopReason']) ?? '', callBlocks.length > 0)];
        case 'metadata':
          return usageSteps(event['usage']);
        default:
          return [];
      }
    },
  };
}
