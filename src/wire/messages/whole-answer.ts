import { isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerContext } from '../dialect.ts';
import { type Fields, parseJson } from '../json/fields.ts';
import { messageIdOf, NO_USAGE, stopFields, usageFields } from './message.ts';

/** A content block that is still being built. */
type Block =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; id: string; name: string; arguments: string };

/** A complete answer as a message. */
export function wholeMessage(steps: readonly AnswerStep[], context: AnswerContext): unknown {
  const begin = steps.find((step) => step.kind === 'begin');
  const usageStep = steps.findLast((step) => step.kind === 'usage');
  const end = stopFields({
    finishReason: steps.findLast((step) => step.kind === 'finish')?.reason ?? null,
    stopSequence: steps.findLast((step) => step.kind === 'stopSequence')?.text ?? null,
    hasRefusal: steps.some((step) => step.kind === 'refusal'),
  });
  return {
    id: begin?.id ?? messageIdOf(context),
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: blocksOf(steps).map((block, index) => blockFields(block, `${messageIdOf(context)}_${index}`)),
    ...end,
    usage: usageStep === undefined ? NO_USAGE : usageFields(usageStep.usage),
  };
}

function blocksOf(steps: readonly AnswerStep[]): readonly Block[] {
  const blocks: Block[] = [];
  const calls = new Map<number, Extract<Block, { type: 'tool_use' }>>();
  /** The last block if it is a thinking block without a signature, else a new thinking block. */
  const openThinkingBlock = (): Extract<Block, { type: 'thinking' }> => {
    const last = blocks.at(-1);
    if (last?.type === 'thinking' && last.signature === '') return last;
    const block: Extract<Block, { type: 'thinking' }> = { type: 'thinking', thinking: '', signature: '' };
    blocks.push(block);
    return block;
  };
  const addText = (text: string): void => {
    const last = blocks.at(-1);
    if (last?.type === 'text') last.text += text;
    else if (text !== '') blocks.push({ type: 'text', text });
  };
  for (const step of steps) {
    switch (step.kind) {
      case 'text':
      case 'refusal':
        addText(step.text);
        break;
      case 'reasoning':
        if (step.text !== '') openThinkingBlock().thinking += step.text;
        break;
      case 'reasoningProof':
        openThinkingBlock().signature = step.proof;
        break;
      case 'redactedReasoning':
        blocks.push({ type: 'redacted_thinking', data: step.proof });
        break;
      case 'toolCall': {
        const begunCall = calls.get(step.index);
        const call = begunCall ?? { type: 'tool_use' as const, id: '', name: '', arguments: '' };
        if (begunCall === undefined) {
          calls.set(step.index, call);
          blocks.push(call);
        }
        call.id = step.id ?? call.id;
        call.name = step.name ?? call.name;
        call.arguments += step.arguments;
        break;
      }
      case 'begin':
      case 'finish':
      case 'usage':
      case 'failure':
      case 'stopSequence':
      case 'toolCallProof':
        break;
    }
  }
  return blocks;
}

function blockFields(block: Block, fallbackId: string): Fields {
  if (block.type !== 'tool_use') return { ...block };
  const { type, id, name, arguments: text } = block;
  return { type, id: id === '' ? fallbackId : id, name, input: inputOf(text) };
}

/** Arguments of a call as an object. Invalid text, for example of a truncated answer, is kept in `unparsed`. */
function inputOf(text: string): Fields {
  if (text.trim() === '') return {};
  const input = parseJson(Buffer.from(text));
  return isJsonObject(input) ? input : { unparsed: text };
}
