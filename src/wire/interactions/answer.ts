import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerContext, AnswerWriter } from '../dialect.ts';
import { type Fields, list, object, text } from '../json/fields.ts';
import { reasoningTextOf } from '../responses/read-items.ts';
import { usageOfResponse } from '../../domain/responses/usage.ts';

/** A complete response as an interaction of Google's API. */
export function interactionOf(response: unknown, model: string | null): JsonObject {
  const fields = object(response);
  const steps = list(fields['output']).flatMap((item) => stepsOfItem(object(item)));
  const usage = usageOfResponse(fields);
  const previous = text(fields['previous_response_id']);
  const createdAt = instantOf(fields['created_at']);
  return {
    id: fields['id'],
    object: 'interaction',
    model: model ?? fields['model'],
    agent: null,
    status: statusOfResponse(fields, steps),
    created: createdAt,
    updated: createdAt,
    outputs: steps.flatMap((step) => (step['type'] === 'model_output' ? list(step['content']) : [step])),
    steps,
    ...(usage === null ? {} : { usage: countsOf(usage) }),
    ...(previous === null ? {} : { previous_interaction_id: previous }),
  };
}

const instantOf = (seconds: unknown): string =>
  new Date((typeof seconds === 'number' ? seconds : 0) * 1_000).toISOString().replace('.000Z', 'Z');

function statusOfResponse({ status }: Fields, steps: readonly JsonObject[]): unknown {
  const requiresAction = status === 'completed' && steps.some(({ type }) => type === 'function_call');
  return requiresAction ? 'requires_action' : (status ?? 'completed');
}

const countsOf = ({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }: Usage): JsonObject => ({
  total_input_tokens: inputTokens,
  total_output_tokens: outputTokens,
  ...(cacheReadTokens > 0 ? { total_cached_tokens: cacheReadTokens } : {}),
  ...(reasoningTokens > 0 ? { total_thought_tokens: reasoningTokens } : {}),
});

function stepsOfItem(item: Fields): readonly JsonObject[] {
  switch (item['type']) {
    case 'reasoning': {
      const summary = reasoningTextOf(item);
      const proof = text(item['encrypted_content']);
      return [
        {
          type: 'thought',
          ...(summary === '' ? {} : { summary: [{ type: 'text', text: summary }] }),
          ...(proof === null ? {} : { signature: proof }),
        },
      ];
    }
    case 'message': {
      const content = list(item['content']).flatMap((part) => {
        const words = text(object(part)['text']) ?? text(object(part)['refusal']);
        return words === null ? [] : [{ type: 'text', text: words }];
      });
      return [{ type: 'model_output', content }];
    }
    case 'function_call':
      return [
        { type: 'function_call', id: item['call_id'], name: item['name'], arguments: argumentsOf(item['arguments']) },
      ];
    default:
      return [];
  }
}

/** Arguments as an object. Text that is not a JSON object becomes the member `arguments`. */
function argumentsOf(callArguments: unknown): unknown {
  try {
    const value: unknown = JSON.parse(text(callArguments) ?? '');
    if (isJsonObject(value)) return value;
  } catch {
    // A model may write arguments that are not JSON.
  }
  return { arguments: callArguments };
}

const event = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ event_type: type, ...rest })}\n\n`;

function statusOf(finishReason: string): string {
  if (finishReason === 'tool_calls') return 'requires_action';
  return finishReason === 'stop' ? 'completed' : 'incomplete';
}

/** Last event of a failed stream. */
export const interactionFailure = (message: string, code: string): string =>
  event('error', { error: { code, message } });

/** Writes the steps of an answer as events of an interaction. Google calls the parts of an interaction steps, too. */
export function createInteractionWriter(context: AnswerContext): AnswerWriter {
  let id = context.fallbackId;
  let hasBegun = false;
  /** Number of started interaction steps. */
  let stepCount = 0;
  /** The open interaction step with text or thoughts. Null when none is open. */
  let openStep: { readonly type: string; readonly index: number } | null = null;
  /**
   * Indexes of interaction steps, by the index of their tool call. These steps stay open until the end, because pieces
   * of several calls may alternate.
   */
  const stepOfCall = new Map<number, number>();
  let finishReason = 'stop';
  let usage: Usage | null = null;

  const interactionFields = (status: string): JsonObject => {
    const createdAt = instantOf(context.createdAt);
    return { id, object: 'interaction', model: context.model, status, created: createdAt, updated: createdAt };
  };
  const begin = (): string => {
    if (hasBegun) return '';
    hasBegun = true;
    return event('interaction.created', { interaction: interactionFields('in_progress') });
  };
  const closeStep = (): string => {
    const stopEvent = openStep === null ? '' : event('step.stop', { index: openStep.index });
    openStep = null;
    return stopEvent;
  };
  const startStep = (interactionStep: JsonObject): { readonly index: number; readonly startEvent: string } => {
    const index = stepCount;
    stepCount += 1;
    return { index, startEvent: event('step.start', { index, step: interactionStep }) };
  };
  const writePiece = (type: string, delta: JsonObject): string => {
    if (openStep?.type === type) return begin() + event('step.delta', { index: openStep.index, delta });
    const before = begin() + closeStep();
    const { index, startEvent } = startStep({ type });
    openStep = { type, index };
    return before + startEvent + event('step.delta', { index, delta });
  };
  const writeCallPiece = (step: Extract<AnswerStep, { kind: 'toolCall' }>): string => {
    const delta = { type: 'arguments_delta', arguments: step.arguments };
    const argumentsEvent = (index: number): string =>
      step.arguments === '' ? '' : event('step.delta', { index, delta });
    const knownIndex = stepOfCall.get(step.index);
    if (knownIndex !== undefined) return argumentsEvent(knownIndex);
    const before = begin() + closeStep();
    const call = { type: 'function_call', id: step.id ?? '', name: step.name ?? '', arguments: {} };
    const { index, startEvent } = startStep(call);
    stepOfCall.set(step.index, index);
    return before + startEvent + argumentsEvent(index);
  };

  return {
    write(step) {
      switch (step.kind) {
        case 'begin':
          id = step.id ?? id;
          return begin();
        case 'text':
        case 'refusal':
          return writePiece('model_output', { type: 'text', text: step.text });
        case 'reasoning':
          return writePiece('thought', { type: 'thought_summary', content: { type: 'text', text: step.text } });
        case 'reasoningProof':
        case 'redactedReasoning':
          return writePiece('thought', { type: 'thought_signature', signature: step.proof });
        case 'toolCall':
          return writeCallPiece(step);
        case 'finish':
          finishReason = step.reason;
          return '';
        case 'usage':
          usage = step.usage;
          return '';
        case 'failure':
        case 'stopSequence':
        case 'toolCallProof':
          return '';
      }
    },
    end() {
      const stopEvents = [...stepOfCall.values()].map((index) => event('step.stop', { index })).join('');
      const status = statusOf(finishReason);
      const interaction = { ...interactionFields(status), ...(usage === null ? {} : { usage: countsOf(usage) }) };
      const completedEvent = event('interaction.completed', { interaction });
      return `${begin()}${closeStep()}${stopEvents}${completedEvent}event: done\ndata: [DONE]\n\n`;
    },
  };
}
