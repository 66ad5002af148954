import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import { toolCallDelta, usageObject } from '../chat-completions/write-answer.ts';
import type { AnswerContext, AnswerWriter } from '../dialect.ts';
import { type Fields, list, object, text } from '../json/fields.ts';
import { stepsOfResponse } from '../responses/read-answer.ts';
import { usageOf } from '../../domain/responses/usage.ts';

type ToolCall = Extract<AnswerStep, { kind: 'toolCall' }>;

/** Error of a complete response that failed or has no output items. Null for any other response. */
export function ideFaultOf(response: unknown): { readonly message: string; readonly code: string | null } | null {
  const failure = stepsOfResponse(response).find((step) => step.kind === 'failure');
  if (failure !== undefined) return failure;
  const { output, incomplete_details: details } = object(response);
  if (list(output).length > 0) return null;
  const reason = text(object(details)['reason']);
  const suffix = reason === null ? '' : `: ${reason}`;
  return { message: `The response has no output items${suffix}.`, code: null };
}

/** A complete response as a chat completion for an IDE, with all text and tool calls in one choice. */
export function ideCompletion(response: unknown, context: AnswerContext): JsonObject {
  const answer = object(response);
  const steps = stepsOfResponse(answer);
  const textOf = (kind: 'text' | 'refusal' | 'reasoning'): string =>
    steps.map((step) => (step.kind === kind ? step.text : '')).join('');
  const calls = callsOf(steps);
  const content = `${textOf('text')}${textOf('refusal')}`;
  const reasoning = textOf('reasoning');
  const message = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    tool_calls: calls.length === 0 ? null : calls,
    function_call: null,
    provider_specific_fields: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  };
  const finish = steps.find((step) => step.kind === 'finish');
  return {
    id: answer['id'] ?? context.fallbackId,
    object: 'chat.completion',
    created: context.createdAt,
    model: context.model,
    system_fingerprint: null,
    choices: [{ index: 0, finish_reason: finish?.reason ?? 'stop', message }],
    usage: countsOf(object(answer['usage'])),
  };
}

function callsOf(steps: readonly AnswerStep[]): readonly object[] {
  const pieces = steps.filter((step): step is ToolCall => step.kind === 'toolCall');
  return [...Map.groupBy(pieces, ({ index }) => index).values()].map((callPieces) => ({
    id: callPieces[0]?.id ?? '',
    type: 'function',
    function: { name: callPieces[0]?.name ?? '', arguments: callPieces.map((piece) => piece.arguments).join('') },
  }));
}

/** Usage of a chat completion: 0 tokens when the response reports none. Details that are not reported are null. */
function countsOf(usage: Fields): object {
  const reported: Usage | null = usageOf(usage);
  const {
    prompt_tokens_details: prompt,
    completion_tokens_details: completion,
    ...totals
  } = usageObject(
    reported ?? { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  );
  return {
    ...totals,
    prompt_tokens_details: isJsonObject(usage['input_tokens_details']) ? prompt : null,
    completion_tokens_details: isJsonObject(usage['output_tokens_details']) ? completion : null,
  };
}

/**
 * Writes the steps of a response as chat-completion chunks for an IDE. Only the first chunk with content has the role.
 */
export function createIdeWriter(context: AnswerContext): AnswerWriter {
  let id = context.fallbackId;
  let hasBegun = false;
  let usage: Usage | null = null;
  const event = (rest: object): string =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: context.createdAt, model: context.model, ...rest })}\n\n`;
  const chunk = (delta: object, reason: string | null = null): string => {
    const role = hasBegun || reason !== null ? {} : { role: 'assistant' };
    hasBegun = true;
    return event({ choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason: reason }] });
  };
  return {
    write(step) {
      switch (step.kind) {
        case 'begin':
          id = step.id ?? id;
          return '';
        case 'text':
        case 'refusal':
          return chunk({ content: step.text });
        case 'reasoning':
          return chunk({ reasoning_content: step.text });
        case 'toolCall':
          return chunk({ tool_calls: [toolCallDelta(step)] });
        case 'finish':
          return chunk({}, step.reason);
        case 'usage':
          usage = step.usage;
          return '';
        case 'failure':
        case 'reasoningProof':
        case 'redactedReasoning':
        case 'stopSequence':
        case 'toolCallProof':
          return '';
      }
    },
    end() {
      const usageChunk =
        context.includeUsage && usage !== null ? event({ choices: [], usage: usageObject(usage) }) : '';
      return `${usageChunk}data: [DONE]\n\n`;
    },
  };
}
