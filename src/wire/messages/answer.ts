import { isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { count, type Fields, withoutNulls, list, object, text, lookupTable } from '../json/fields.ts';
import { ANSWER_TOOL, finishReasonOf, usageOf } from './message.ts';

/** Whether parsed JSON is an answer. */
export const isMessage = (value: unknown): value is Fields => isJsonObject(value) && Array.isArray(value['content']);

/** HTTP statuses, by error type. An error inside a stream has only its type. */
const STATUS_OF_TYPE = lookupTable<string>({
  invalid_request_error: '400',
  authentication_error: '401',
  billing_error: '402',
  permission_error: '403',
  not_found_error: '404',
  request_too_large: '413',
  rate_limit_error: '429',
  api_error: '500',
  timeout_error: '504',
  overloaded_error: '529',
});

/** Error of a body or an event. Null when there is none. */
export function errorOf(value: unknown): AnswerError | null {
  const { error } = object(value);
  if (error === undefined || error === null) return null;
  const fields = object(error);
  const type = text(fields['type']);
  const message = text(fields['message']) ?? text(error) ?? JSON.stringify(error);
  return { message, type, param: null, code: type === null ? null : (STATUS_OF_TYPE[type] ?? null) };
}

/** Creates a reader of one streamed message. */
export function createEventReader(): AnswerReader {
  const calls = createToolCallIndex();
  let latestCounts: Fields = {};

  function usageSteps(value: unknown): AnswerStep[] {
    // Later events have cumulative counts. Missing counts keep their previous value.
    latestCounts = { ...latestCounts, ...withoutNulls(object(value)) };
    const usage = usageOf(latestCounts);
    return usage === null ? [] : [{ kind: 'usage', usage }];
  }

  return {
    read(data) {
      const event = object(data);
      const index = count(event['index']) ?? 0;
      switch (event['type']) {
        case 'message_start': {
          const message = object(event['message']);
          // Zero counts at the start mean that the upstream does not know the counts yet.
          const usage = usageSteps(message['usage']).filter(hasTokens);
          return [{ kind: 'begin', id: text(message['id']), model: text(message['model']) }, ...usage];
        }
        case 'content_block_start':
          return stepsOfBlock(object(event['content_block']), calls.open(event['content_block'], index), 'started');
        case 'content_block_delta':
          return stepsOfDelta(object(event['delta']), calls.at(index));
        case 'message_delta':
          return [...endSteps(object(event['delta']), calls), ...usageSteps(event['usage'])];
        default:
          return [];
      }
    },
  };
}

const hasTokens = (step: AnswerStep): boolean =>
  step.kind === 'usage' && step.usage.inputTokens + step.usage.outputTokens > 0;

/** Steps of a complete message. */
export function stepsOfMessage(value: unknown): readonly AnswerStep[] {
  const message = object(value);
  const calls = createToolCallIndex();
  const usage = usageOf(message['usage']);
  return [
    { kind: 'begin', id: text(message['id']), model: text(message['model']) },
    ...list(message['content']).flatMap((block, index) =>
      stepsOfBlock(object(block), calls.open(block, index), 'whole'),
    ),
    ...endSteps(message, calls),
    ...(usage === null ? [] : [{ kind: 'usage', usage } as const]),
  ];
}

/** Role of a content block: index of a tool call, `answer` for a call of `ANSWER_TOOL`, null for all others. */
type BlockRole = number | 'answer' | null;

/** Assigns indexes to the tool calls among the blocks of one message. */
interface ToolCallIndex {
  /** Registers the block with this index and returns its role. */
  open(block: unknown, index: number): BlockRole;
  /** Role of a registered block. */
  at(index: number): BlockRole;
  /** Whether `ANSWER_TOOL` is the only called tool. */
  onlyAnswer(): boolean;
}

function createToolCallIndex(): ToolCallIndex {
  const roles = new Map<number, BlockRole>();
  let callCount = 0;
  let hasAnswer = false;
  return {
    open(block, index) {
      const { type, name } = object(block);
      if (type !== 'tool_use') return null;
      const role = name === ANSWER_TOOL ? 'answer' : callCount;
      if (role === 'answer') hasAnswer = true;
      else callCount += 1;
      roles.set(index, role);
      return role;
    },
    at: (index) => roles.get(index) ?? null,
    onlyAnswer: () => hasAnswer && callCount === 0,
  };
}

/** Steps of a block. Ignores blocks of the provider's own tools, which callers of other dialects cannot request. */
function stepsOfBlock(block: Fields, role: BlockRole, state: 'started' | 'whole'): readonly AnswerStep[] {
  switch (block['type']) {
    case 'text':
      return textStep('text', block['text']);
    case 'thinking':
      return [...textStep('reasoning', block['thinking']), ...proofStep(block['signature'])];
    case 'redacted_thinking':
      return [{ kind: 'redactedReasoning', proof: text(block['data']) ?? '' }];
    case 'tool_use': {
      const input = isJsonObject(block['input']) ? block['input'] : {};
      // A streamed call usually begins with an empty input and continues in pieces. Some upstreams begin with the whole
      // input.
      const piece = state === 'whole' || Object.keys(input).length > 0 ? JSON.stringify(input) : '';
      if (role === 'answer') return textStep('text', piece);
      const toolCall = { id: text(block['id']), name: text(block['name']), arguments: piece };
      return [{ kind: 'toolCall', index: typeof role === 'number' ? role : 0, ...toolCall }];
    }
    default:
      return [];
  }
}

function stepsOfDelta(delta: Fields, role: BlockRole): readonly AnswerStep[] {
  switch (delta['type']) {
    case 'text_delta':
      return textStep('text', delta['text']);
    case 'thinking_delta':
      return textStep('reasoning', delta['thinking']);
    case 'signature_delta':
      return proofStep(delta['signature']);
    case 'input_json_delta': {
      const piece = text(delta['partial_json']) ?? '';
      if (role === 'answer') return textStep('text', piece);
      if (role === null || piece === '') return [];
      return [{ kind: 'toolCall', index: role, id: null, name: null, arguments: piece }];
    }
    default:
      return [];
  }
}

const textStep = (kind: 'text' | 'reasoning', value: unknown): readonly AnswerStep[] =>
  typeof value === 'string' && value !== '' ? [{ kind, text: value }] : [];

const proofStep = (value: unknown): readonly AnswerStep[] =>
  typeof value === 'string' && value !== '' ? [{ kind: 'reasoningProof', proof: value }] : [];

/** Steps of the end of an answer. Empty without a stop reason. */
function endSteps(fields: Fields, calls: ToolCallIndex): readonly AnswerStep[] {
  const stopReason = text(fields['stop_reason']);
  if (stopReason === null) return [];
  const sequence = text(fields['stop_sequence']);
  const explanation = text(object(fields['stop_details'])['explanation']);
  const reason = stopReason === 'tool_use' && calls.onlyAnswer() ? 'stop' : finishReasonOf(stopReason);
  return [
    ...(explanation === null ? [] : [{ kind: 'refusal', text: explanation } as const]),
    ...(sequence === null ? [] : [{ kind: 'stopSequence', text: sequence } as const]),
    { kind: 'finish', reason },
  ];
}
