import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { count, type Fields, isObject, list, object, text } from '../json/fields.ts';

/** Why an answer ended, in OpenAI's words. */
const REASONS: Readonly<Record<string, string>> = {
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/** Statuses that failures inside a stream would have had outside of one. */
const STATUSES: Readonly<Record<string, string>> = {
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
};

/** The failure that an event carries, or that a body is. */
export function errorOf(value: unknown): AnswerError | null {
  const { exception, message, Message: capital, __type: type, output } = object(value);
  const said = text(message) ?? text(capital);
  if (typeof exception === 'string') {
    const name = exception.charAt(0).toLowerCase() + exception.slice(1);
    return { message: said || exception, type: exception, param: null, code: STATUSES[name] ?? '500' };
  }
  return said === null || output !== undefined
    ? null
    : { message: said, type: text(type)?.replace(/^.*#/, '') ?? null, param: null, code: null };
}

export const isAnswer = (value: unknown): boolean => isObject(object(object(value)['output'])['message']);

/** Token counts. Those of a cache are counted apart from the rest of the input. */
function usageSteps(value: unknown): readonly AnswerStep[] {
  const usage = object(value);
  const fresh = count(usage['inputTokens']);
  const outputTokens = count(usage['outputTokens']);
  if (fresh === null && outputTokens === null) return [];
  const cacheReadTokens = count(usage['cacheReadInputTokens']) ?? 0;
  const cacheWriteTokens = count(usage['cacheWriteInputTokens']) ?? 0;
  const counted: Usage = {
    inputTokens: (fresh ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: 0,
  };
  return [{ kind: 'usage', usage: counted }];
}

const finishOf = (reason: string, called: boolean): AnswerStep => {
  const ended = REASONS[reason] ?? 'stop';
  return { kind: 'finish', reason: called && ended === 'stop' ? 'tool_calls' : ended };
};

const BEGIN: AnswerStep = { kind: 'begin', id: null, model: null };

/** The steps of a whole answer. */
export function stepsOf(answer: unknown): readonly AnswerStep[] {
  const { output, stopReason, usage } = object(answer);
  let calls = 0;
  const said = list(object(object(output)['message'])['content']).flatMap((item): readonly AnswerStep[] => {
    const block = object(item);
    if (isObject(block['toolUse'])) {
      const { toolUseId, name, input } = block['toolUse'];
      const index = calls;
      calls += 1;
      return [
        { kind: 'toolCall', index, id: text(toolUseId), name: text(name), arguments: JSON.stringify(input ?? {}) },
      ];
    }
    const { reasoningText, redactedContent } = object(block['reasoningContent']);
    const cited = list(object(block['citationsContent'])['content']).map((one) => text(object(one)['text']) ?? '');
    return [
      ...saidOf('text', block['text'] ?? cited.join('')),
      ...saidOf('reasoning', object(reasoningText)['text']),
      ...proofOf('reasoningProof', object(reasoningText)['signature']),
      ...proofOf('redactedReasoning', redactedContent),
    ];
  });
  return [BEGIN, ...said, finishOf(text(stopReason) ?? '', calls > 0), ...usageSteps(usage)];
}

const saidOf = (kind: 'text' | 'reasoning', value: unknown): readonly AnswerStep[] =>
  typeof value === 'string' && value !== '' ? [{ kind, text: value }] : [];

const proofOf = (kind: 'reasoningProof' | 'redactedReasoning', value: unknown): readonly AnswerStep[] =>
  typeof value === 'string' && value !== '' ? [{ kind, proof: value }] : [];

/** Reads a streamed answer: named events, each a step of one block. */
export function createConverseReader(): AnswerReader {
  /** Positions of blocks that are tool calls, in the order of the calls. */
  const calls: number[] = [];
  /** A proof may come in pieces, like everything else. */
  let proof = '';

  function readDelta(event: Fields): readonly AnswerStep[] {
    const delta = object(event['delta']);
    const { text: thought, signature, redactedContent } = object(delta['reasoningContent']);
    if (typeof signature === 'string') proof += signature;
    if (isObject(delta['toolUse'])) {
      const index = calls.indexOf(count(event['contentBlockIndex']) ?? -1);
      const piece = text(delta['toolUse']['input']) ?? '';
      return index === -1 ? [] : [{ kind: 'toolCall', index, id: null, name: null, arguments: piece }];
    }
    return [
      ...saidOf('text', delta['text']),
      ...saidOf('reasoning', thought),
      ...proofOf('redactedReasoning', redactedContent),
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
          calls.push(count(event['contentBlockIndex']) ?? calls.length);
          return [{ kind: 'toolCall', index: calls.length - 1, id: toolUseId, name: text(tool), arguments: '' }];
        }
        case 'contentBlockDelta':
          return readDelta(event);
        case 'contentBlockStop': {
          const whole = proofOf('reasoningProof', proof);
          proof = '';
          return whole;
        }
        case 'messageStop':
          return [finishOf(text(event['stopReason']) ?? '', calls.length > 0)];
        case 'metadata':
          return usageSteps(event['usage']);
        default:
          return [];
      }
    },
  };
}
