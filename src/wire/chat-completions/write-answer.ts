import type { JsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerContext, AnswerWriter } from '../dialect.ts';

/** `usage` object of chat completions and completions. */
export function usageObject(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    // OpenAI's API does not have this member. LiteLLM reports cache writes in it.
    ...(cacheWriteTokens === 0 ? {} : { cache_creation_input_tokens: cacheWriteTokens }),
  };
}

const DONE = 'data: [DONE]\n\n';

/**
 * Writes an answer as chat-completion chunks. Content is written immediately. Usage is the last chunk, and is written
 * only when the caller requested it.
 */
export function createChunkWriter(context: AnswerContext): AnswerWriter {
  let id = context.fallbackId;
  let hasBegun = false;
  let thought = '';
  let usage: Usage | null = null;

  const event = (rest: object): string =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: context.createdAt, model: context.model, ...rest })}\n\n`;
  const chunk = (delta: object, finishReason: string | null = null): string =>
    event({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
  const opening = (): string => {
    if (hasBegun) return '';
    hasBegun = true;
    return chunk({ role: 'assistant', content: '' });
  };

  function deltaOf(step: AnswerStep): object | null {
    switch (step.kind) {
      case 'text':
        return { content: step.text };
      case 'refusal':
        return { refusal: step.text };
      case 'reasoning':
        thought += step.text;
        return { reasoning_content: step.text };
      case 'reasoningProof': {
        const block = { type: 'thinking', thinking: thought, signature: step.proof };
        thought = '';
        return { thinking_blocks: [block] };
      }
      case 'redactedReasoning':
        return { thinking_blocks: [{ type: 'redacted_thinking', data: step.proof }] };
      case 'toolCall':
        return { tool_calls: [toolCallDelta(step)] };
      case 'toolCallProof':
        return { tool_calls: [{ index: step.index, ...thoughtSignatureFields(step.proof) }] };
      case 'begin':
      case 'finish':
      case 'usage':
      case 'failure':
      case 'stopSequence':
        return null;
    }
  }

  return {
    write(step) {
      if (step.kind === 'begin') {
        id = step.id ?? id;
        return opening();
      }
      if (step.kind === 'finish') return `${opening()}${chunk({}, step.reason)}`;
      if (step.kind === 'usage') usage = step.usage;
      const delta = deltaOf(step);
      return delta === null ? '' : `${opening()}${chunk(delta)}`;
    },
    end() {
      const usageChunk =
        context.includeUsage && usage !== null ? event({ choices: [], usage: usageObject(usage) }) : '';
      return `${usageChunk}${DONE}`;
    },
  };
}

/** Entry of `tool_calls` in a chunk. Only the first piece of a call has id and name. */
export function toolCallDelta(step: Extract<AnswerStep, { kind: 'toolCall' }>): object {
  const { index, id, name, arguments: piece } = step;
  return id === null && name === null
    ? { index, function: { arguments: piece } }
    : { index, id, type: 'function', function: { name, arguments: piece } };
}

/** Thought signature in the member of Google's chat-completions API. */
export const thoughtSignatureFields = (proof: string): object => ({
  extra_content: { google: { thought_signature: proof } },
});
