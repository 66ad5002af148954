import { isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { type Fields, list, object, text } from '../json/fields.ts';
import { reasoningTextOf } from './read-items.ts';
import { usageOfResponse } from '../../domain/responses/usage.ts';

/** Types of the last event of a response. */
const FINAL_TYPES = new Set<unknown>(['response.completed', 'response.incomplete', 'response.failed']);

/** Whether an event of this type ends a response. */
export const isFinalType = (type: unknown): boolean => FINAL_TYPES.has(type);

/**
 * Error of a body or of an `error` event. Null when there is none. A response with status `failed` is an answer, not an
 * error.
 */
export function errorOf(value: unknown): AnswerError | null {
  const fields = object(value);
  if (fields['object'] === 'response' || isJsonObject(fields['response'])) return null;
  const { error, type } = fields;
  if (isJsonObject(error)) return readError(error, text(error['type']));
  // An `error` event may have the members of the error at the top level. Its `type` is then the type of the event.
  if (type === 'error') return readError(fields, null);
  return typeof error === 'string' ? { message: error, type: null, param: null, code: null } : null;
}

function readError(fields: Fields, type: string | null): AnswerError {
  const { code } = fields;
  return {
    message: text(fields['message']) ?? JSON.stringify(fields),
    type,
    param: text(fields['param']),
    code: typeof code === 'number' ? String(code) : text(code),
  };
}

const CALL_TYPES = new Set<unknown>(['function_call', 'custom_tool_call']);

/** Steps of the end of a response: finish reason or failure, and usage. */
function endSteps(response: Fields): readonly AnswerStep[] {
  const usage = usageOfResponse(response);
  const usageSteps: readonly AnswerStep[] = usage === null ? [] : [{ kind: 'usage', usage }];
  const error = object(response['error']);
  if (response['status'] === 'failed') {
    const code = text(error['code']) ?? 'server_error';
    return [{ kind: 'failure', message: text(error['message']) ?? 'The response failed.', code }, ...usageSteps];
  }
  return [{ kind: 'finish', reason: finishReasonOf(response) }, ...usageSteps];
}

function finishReasonOf(response: Fields): string {
  if (response['status'] === 'incomplete')
    return object(response['incomplete_details'])['reason'] === 'content_filter' ? 'content_filter' : 'length';
  return list(response['output']).some((item) => CALL_TYPES.has(object(item)['type'])) ? 'tool_calls' : 'stop';
}

const beginStep = (response: Fields): AnswerStep => ({
  kind: 'begin',
  id: text(response['id']),
  model: text(response['model']),
});

/** Steps of a complete response. */
export function stepsOfResponse(answer: unknown): readonly AnswerStep[] {
  const response = object(answer);
  let callCount = 0;
  const output = list(response['output']).flatMap((value): AnswerStep[] => {
    const item = object(value);
    switch (item['type']) {
      case 'reasoning': {
        const reasoning = reasoningTextOf(item);
        return [...(reasoning === '' ? [] : [{ kind: 'reasoning' as const, text: reasoning }]), ...proofSteps(item)];
      }
      case 'message':
        return list(item['content']).flatMap((part) => stepsOfPart(object(part)));
      case 'function_call':
      case 'custom_tool_call': {
        const index = callCount;
        callCount += 1;
        return [callStep(item, index), argumentsStep(index, wholeArguments(item)), ...callProofSteps(item, index)];
      }
      default:
        return [];
    }
  });
  return [beginStep(response), ...output, ...endSteps(response)];
}

function stepsOfPart(part: Fields): readonly AnswerStep[] {
  const words = text(part['text']) ?? '';
  const refusal = text(part['refusal']) ?? '';
  if (part['type'] === 'output_text' && words !== '') return [{ kind: 'text', text: words }];
  return part['type'] === 'refusal' && refusal !== '' ? [{ kind: 'refusal', text: refusal }] : [];
}

function proofSteps(item: Fields): readonly AnswerStep[] {
  const proof = text(item['encrypted_content']);
  if (proof === null) return [];
  return [{ kind: reasoningTextOf(item) === '' ? 'redactedReasoning' : 'reasoningProof', proof }];
}

const callStep = (item: Fields, index: number): AnswerStep => ({
  kind: 'toolCall',
  index,
  id: text(item['call_id']),
  name: text(item['name']),
  arguments: '',
});

const argumentsStep = (index: number, piece: string): AnswerStep => ({
  kind: 'toolCall',
  index,
  id: null,
  name: null,
  arguments: piece,
});

const wholeArguments = (item: Fields): string => text(item['arguments']) ?? text(item['input']) ?? '';

function callProofSteps(item: Fields, index: number): readonly AnswerStep[] {
  const proof = text(object(object(item['extra_content'])['google'])['thought_signature']);
  return proof === null ? [] : [{ kind: 'toolCallProof', index, proof }];
}

/** Creates a reader of one streamed response. */
export function createEventReader(): AnswerReader {
  /** Tool calls by their `output_index`. Other items may come between them. */
  const calls = new Map<unknown, { readonly index: number; hasArguments: boolean }>();
  /** Whether the next reasoning text begins a further summary part and needs a separator. */
  let needsSeparator = false;
  let hasBegun = false;

  function begin(response: Fields): readonly AnswerStep[] {
    if (hasBegun) return [];
    hasBegun = true;
    return [beginStep(response)];
  }

  function argumentsPiece(event: Fields): readonly AnswerStep[] {
    const call = calls.get(event['output_index']);
    const piece = text(event['delta']) ?? '';
    if (call === undefined || piece === '') return [];
    call.hasArguments = true;
    return [argumentsStep(call.index, piece)];
  }

  function reasoningStep(event: Fields): readonly AnswerStep[] {
    const piece = text(event['delta']) ?? '';
    const separator = needsSeparator ? '\n\n' : '';
    needsSeparator = false;
    return piece === '' ? [] : [{ kind: 'reasoning', text: `${separator}${piece}` }];
  }

  function itemAdded(event: Fields): readonly AnswerStep[] {
    const item = object(event['item']);
    needsSeparator = false;
    if (!CALL_TYPES.has(item['type'])) return [];
    const index = calls.size;
    calls.set(event['output_index'], { index, hasArguments: false });
    return [callStep(item, index)];
  }

  function itemDone(event: Fields): readonly AnswerStep[] {
    const item = object(event['item']);
    needsSeparator = false;
    if (item['type'] === 'reasoning') return proofSteps(item);
    const call = calls.get(event['output_index']);
    if (call === undefined) return [];
    // Some upstreams send the arguments only with the complete item.
    const argumentsText = wholeArguments(item);
    const lateArguments = call.hasArguments || argumentsText === '' ? [] : [argumentsStep(call.index, argumentsText)];
    return [...lateArguments, ...callProofSteps(item, call.index)];
  }

  function responseEnded(response: Fields): readonly AnswerStep[] {
    const [end, ...usageSteps] = endSteps(response);
    // Some upstreams do not repeat the output items at the end, so tool calls are known only from earlier events.
    if (end?.kind === 'finish' && end.reason === 'stop' && calls.size > 0)
      return [...begin(response), { kind: 'finish', reason: 'tool_calls' }, ...usageSteps];
    return [...begin(response), ...(end === undefined ? [] : [end]), ...usageSteps];
  }

  return {
    read(data) {
      const event = object(data);
      const response = object(event['response']);
      const { type } = event;
      if (isFinalType(type)) return responseEnded(response);
      switch (type) {
        case 'response.created':
        case 'response.in_progress':
        case 'response.queued':
          return begin(response);
        case 'response.output_text.delta':
          return textStep('text', event);
        case 'response.refusal.delta':
          return textStep('refusal', event);
        case 'response.reasoning_summary_part.added':
          needsSeparator = (event['summary_index'] ?? 0) !== 0;
          return [];
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return reasoningStep(event);
        case 'response.output_item.added':
          return itemAdded(event);
        case 'response.function_call_arguments.delta':
        case 'response.custom_tool_call_input.delta':
          return argumentsPiece(event);
        case 'response.output_item.done':
          return itemDone(event);
        default:
          return [];
      }
    },
  };
}

function textStep(kind: 'text' | 'refusal', event: Fields): readonly AnswerStep[] {
  const piece = text(event['delta']) ?? '';
  return piece === '' ? [] : [{ kind, text: piece }];
}
