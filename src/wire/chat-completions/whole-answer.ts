import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerContext } from '../dialect.ts';
import { thoughtSignatureFields, usageObject } from './write-answer.ts';

interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  proof: string | null;
}

/** Parts of an answer, accumulated from its steps. */
interface AnswerParts {
  id: string | null;
  text: string;
  refusal: string;
  reasoning: string;
  readonly thinkingBlocks: object[];
  readonly calls: ToolCall[];
  finishReason: string;
  usage: object | null;
}

/** A complete answer as a chat completion. */
export function wholeChatCompletion(steps: readonly AnswerStep[], context: AnswerContext): unknown {
  const { id, text, refusal, reasoning, thinkingBlocks, calls, finishReason, usage } = collectParts(steps);
  const hasOtherContent = calls.length > 0 || refusal !== '';
  const message = {
    role: 'assistant',
    content: text === '' && hasOtherContent ? null : text,
    ...(refusal === '' ? {} : { refusal }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(thinkingBlocks.length === 0 ? {} : { thinking_blocks: thinkingBlocks }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCallObject) }),
  };
  return {
    id: id ?? context.fallbackId,
    object: 'chat.completion',
    created: context.createdAt,
    model: context.model,
    choices: [{ index: 0, message, finish_reason: finishReason }],
    ...(usage === null ? {} : { usage }),
  };
}

function collectParts(steps: readonly AnswerStep[]): AnswerParts {
  const parts: AnswerParts = {
    id: null,
    text: '',
    refusal: '',
    reasoning: '',
    thinkingBlocks: [],
    calls: [],
    finishReason: 'stop',
    usage: null,
  };
  let thought = '';
  for (const step of steps) {
    switch (step.kind) {
      case 'begin':
        parts.id = step.id;
        break;
      case 'text':
        parts.text += step.text;
        break;
      case 'refusal':
        parts.refusal += step.text;
        break;
      case 'reasoning':
        parts.reasoning += step.text;
        thought += step.text;
        break;
      case 'reasoningProof':
        parts.thinkingBlocks.push({ type: 'thinking', thinking: thought, signature: step.proof });
        thought = '';
        break;
      case 'redactedReasoning':
        parts.thinkingBlocks.push({ type: 'redacted_thinking', data: step.proof });
        break;
      case 'toolCall':
        addCall(parts.calls, step);
        break;
      case 'toolCallProof': {
        const call = parts.calls[step.index];
        if (call) call.proof = step.proof;
        break;
      }
      case 'finish':
        parts.finishReason = step.reason;
        break;
      case 'usage':
        parts.usage = usageObject(step.usage);
        break;
      case 'failure':
      case 'stopSequence':
        break;
    }
  }
  return parts;
}

function addCall(calls: ToolCall[], step: Extract<AnswerStep, { kind: 'toolCall' }>): void {
  const call = calls[step.index] ?? { id: '', name: '', arguments: '', proof: null };
  calls[step.index] = call;
  call.id = step.id ?? call.id;
  call.name = step.name ?? call.name;
  call.arguments += step.arguments;
}

const toolCallObject = ({ id, name, arguments: text, proof }: ToolCall): object => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...(proof === null ? {} : thoughtSignatureFields(proof)),
});
