import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Losses, NeutralChat } from '../../domain/chat/neutral-chat.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { noteUnsupportedMembers, readSampling } from '../chat-completions/read-request.ts';
import { usageObject } from '../chat-completions/write-answer.ts';
import type { AnswerContext, AnswerWriter, InboundDialect, OutboundDialect } from '../dialect.ts';
import { malformed } from '../malformed.ts';
import { chatCompletionsOut } from '../chat-completions/native.ts';
import { type CompletionForm, writeCompletion } from './write-request.ts';

/** Members that `readCompletion` or the gateway reads. */
const READ_MEMBERS = new Set([
  'model',
  'prompt',
  'stream',
  'stream_options',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'user',
  'metadata',
]);

/** Dialect of callers that send text completions to a chat model. */
export const COMPLETIONS_IN: InboundDialect = {
  readRequest: readCompletion,
  writer: createTextWriter,
  whole: wholeCompletion,
};

function readCompletion(body: RequestBody, losses: Losses): NeutralChat {
  noteUnsupportedMembers(body, losses, (member) => READ_MEMBERS.has(member));
  const { prompt } = body;
  const text: unknown = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  // Several prompts need several answers, and token ids differ between models.
  if (typeof text !== 'string') throw malformed('prompt', 'one string: this chat model accepts one prompt per request');
  return {
    ...readSampling(body),
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    outputForm: null,
    reasoning: null,
  };
}

function createTextWriter(context: AnswerContext): AnswerWriter {
  let id = context.fallbackId;
  let usage: Usage | null = null;
  const event = (rest: object): string =>
    `data: ${JSON.stringify({ id, object: 'text_completion', created: context.createdAt, model: context.model, ...rest })}\n\n`;
  const chunk = (text: string, finishReason: string | null): string =>
    event({ choices: [{ text, index: 0, logprobs: null, finish_reason: finishReason }] });
  return {
    write(step) {
      if (step.kind === 'begin') id = step.id ?? id;
      if (step.kind === 'usage') usage = step.usage;
      if (step.kind === 'finish') return chunk('', step.reason);
      return step.kind === 'text' || step.kind === 'refusal' ? chunk(step.text, null) : '';
    },
    end() {
      const usageChunk =
        context.includeUsage && usage !== null ? event({ choices: [], usage: usageObject(usage) }) : '';
      return `${usageChunk}data: [DONE]\n\n`;
    },
  };
}

function wholeCompletion(steps: readonly AnswerStep[], context: AnswerContext): unknown {
  const begin = steps.find((step) => step.kind === 'begin');
  const finish = steps.findLast((step) => step.kind === 'finish');
  const usageStep = steps.findLast((step) => step.kind === 'usage');
  const text = steps.map((step) => (step.kind === 'text' || step.kind === 'refusal' ? step.text : '')).join('');
  return {
    id: begin?.id ?? context.fallbackId,
    object: 'text_completion',
    created: context.createdAt,
    model: context.model,
    choices: [{ text, index: 0, logprobs: null, finish_reason: finish?.reason ?? 'stop' }],
    ...(usageStep === undefined ? {} : { usage: usageObject(usageStep.usage) }),
  };
}

/** Dialect of text-completion upstreams, for chat callers. Answers are read like those of chat completions. */
export const completionsOut = (form: CompletionForm): OutboundDialect => ({
  ...chatCompletionsOut({ maxTokensMember: 'max_tokens' }),
  writeRequest: (chat, losses) => writeCompletion(chat, losses, form),
});
