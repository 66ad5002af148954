import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { type Fields, isObject, list, object, text } from '../json/fields.ts';
import { thoughtOf } from './read-items.ts';
import { usageOf } from './usage.ts';

/** Events after which a response says nothing more. */
const LAST = new Set<unknown>(['response.completed', 'response.incomplete', 'response.failed']);

/** Whether an event ends a response. */
export const isLast = (type: unknown): boolean => LAST.has(type);

/** The failure a body or an `error` event carries; a response that only says that it failed is an answer. */
export function errorOf(value: unknown): AnswerError | null {
  const fields = object(value);
  if (fields['object'] === 'response' || isObject(fields['response'])) return null;
  const { error, type } = fields;
  // The event has the failure in itself, or as its members.
  const said = isObject(error) ? error : type === 'error' ? fields : null;
  if (said === null) return typeof error === 'string' ? { message: error, type: null, param: null, code: null } : null;
  const code = said['code'];
  return {
    message: text(said['message']) ?? JSON.stringify(said),
    type: said === fields ? null : text(said['type']),
    param: text(said['param']),
    code: typeof code === 'number' ? String(code) : text(code),
  };
}

const CALLS = new Set<unknown>(['function_call', 'custom_tool_call']);

/** How a response ended: why, what it used, and what failed it. */
function endOf(response: Fields): readonly AnswerStep[] {
  const usage = usageOf(response['usage']);
  const counted: readonly AnswerStep[] = usage === null ? [] : [{ kind: 'usage', usage }];
  const error = object(response['error']);
  if (response['status'] === 'failed') {
    const code = text(error['code']) ?? 'server_error';
    return [{ kind: 'failure', message: text(error['message']) ?? 'The response failed.', code }, ...counted];
  }
  return [{ kind: 'finish', reason: reasonOf(response) }, ...counted];
}

function reasonOf(response: Fields): string {
  if (response['status'] === 'incomplete')
    return object(response['incomplete_details'])['reason'] === 'content_filter' ? 'content_filter' : 'length';
  return list(response['output']).some((item) => CALLS.has(object(item)['type'])) ? 'tool_calls' : 'stop';
}

const beginOf = (response: Fields): AnswerStep => ({
  kind: 'begin',
  id: text(response['id']),
  model: text(response['model']),
});

/** The steps of a response that came whole. */
export function stepsOfResponse(answer: unknown): readonly AnswerStep[] {
  const response = object(answer);
  let calls = 0;
  const said = list(response['output']).flatMap((value): AnswerStep[] => {
    const item = object(value);
    switch (item['type']) {
      case 'reasoning': {
        const thought = thoughtOf(item);
        return [...(thought === '' ? [] : [{ kind: 'reasoning' as const, text: thought }]), ...proofOf(item)];
      }
      case 'message':
        return list(item['content']).flatMap((part) => stepsOfPart(object(part)));
      case 'function_call':
      case 'custom_tool_call': {
        const index = calls;
        calls += 1;
        return [callOf(item, index), argumentsOf(index, wholeArguments(item)), ...callProofOf(item, index)];
      }
      default:
        return [];
    }
  });
  return [beginOf(response), ...said, ...endOf(response)];
}

function stepsOfPart(part: Fields): readonly AnswerStep[] {
  const words = text(part['text']) ?? '';
  const refused = text(part['refusal']) ?? '';
  if (part['type'] === 'output_text' && words !== '') return [{ kind: 'text', text: words }];
  return part['type'] === 'refusal' && refused !== '' ? [{ kind: 'refusal', text: refused }] : [];
}

function proofOf(item: Fields): readonly AnswerStep[] {
  const proof = text(item['encrypted_content']);
  if (proof === null) return [];
  return [{ kind: thoughtOf(item) === '' ? 'redactedReasoning' : 'reasoningProof', proof }];
}

const callOf = (item: Fields, index: number): AnswerStep => ({
  kind: 'toolCall',
  index,
  id: text(item['call_id']),
  name: text(item['name']),
  arguments: '',
});

const argumentsOf = (index: number, piece: string): AnswerStep => ({
  kind: 'toolCall',
  index,
  id: null,
  name: null,
  arguments: piece,
});

const wholeArguments = (item: Fields): string => text(item['arguments']) ?? text(item['input']) ?? '';

function callProofOf(item: Fields, index: number): readonly AnswerStep[] {
  const proof = text(object(object(item['extra_content'])['google'])['thought_signature']);
  return proof === null ? [] : [{ kind: 'toolCallProof', index, proof }];
}

/** Reads the events of a streamed response. */
export function createEventReader(): AnswerReader {
  /** Calls by the place of their item: other items stand between them. */
  const calls = new Map<unknown, { readonly index: number; said: boolean }>();
  /** What began but has not been told: a part of a thought follows another. */
  let parted = false;
  let begun = false;

  function begin(response: Fields): readonly AnswerStep[] {
    if (begun) return [];
    begun = true;
    return [beginOf(response)];
  }

  function pieceOf(event: Fields): readonly AnswerStep[] {
    const call = calls.get(event['output_index']);
    const piece = text(event['delta']) ?? '';
    if (call === undefined || piece === '') return [];
    call.said = true;
    return [argumentsOf(call.index, piece)];
  }

  function thought(event: Fields): readonly AnswerStep[] {
    const piece = text(event['delta']) ?? '';
    const apart = parted ? '\n\n' : '';
    parted = false;
    return piece === '' ? [] : [{ kind: 'reasoning', text: `${apart}${piece}` }];
  }

  function added(event: Fields): readonly AnswerStep[] {
    const item = object(event['item']);
    parted = false;
    if (!CALLS.has(item['type'])) return [];
    const index = calls.size;
    calls.set(event['output_index'], { index, said: false });
    return [callOf(item, index)];
  }

  function done(event: Fields): readonly AnswerStep[] {
    const item = object(event['item']);
    parted = false;
    if (item['type'] === 'reasoning') return proofOf(item);
    const call = calls.get(event['output_index']);
    if (call === undefined) return [];
    // Some upstreams send arguments at the end only.
    const late = call.said || wholeArguments(item) === '' ? [] : [argumentsOf(call.index, wholeArguments(item))];
    return [...late, ...callProofOf(item, call.index)];
  }

  function ended(response: Fields): readonly AnswerStep[] {
    const [end, ...counted] = endOf(response);
    // The items of a response are told as they come; not every upstream repeats them at the end.
    if (end?.kind === 'finish' && end.reason === 'stop' && calls.size > 0)
      return [...begin(response), { kind: 'finish', reason: 'tool_calls' }, ...counted];
    return [...begin(response), ...(end === undefined ? [] : [end]), ...counted];
  }

  return {
    read(data) {
      const event = object(data);
      const response = object(event['response']);
      const { type } = event;
      if (isLast(type)) return ended(response);
      switch (type) {
        case 'response.created':
        case 'response.in_progress':
        case 'response.queued':
          return begin(response);
        case 'response.output_text.delta':
          return spoken('text', event);
        case 'response.refusal.delta':
          return spoken('refusal', event);
        case 'response.reasoning_summary_part.added':
          parted = (event['summary_index'] ?? 0) !== 0;
          return [];
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return thought(event);
        case 'response.output_item.added':
          return added(event);
        case 'response.function_call_arguments.delta':
        case 'response.custom_tool_call_input.delta':
          return pieceOf(event);
        case 'response.output_item.done':
          return done(event);
        default:
          return [];
      }
    },
  };
}

function spoken(kind: 'text' | 'refusal', event: Fields): readonly AnswerStep[] {
  const piece = text(event['delta']) ?? '';
  return piece === '' ? [] : [{ kind, text: piece }];
}
