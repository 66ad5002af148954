import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { AnswerContext } from '../dialect.ts';
import { type Fields, isObject, parseJson } from '../json/fields.ts';
import { messageIdOf, NO_USAGE, stopFields } from './message.ts';
import { usageFields } from './usage.ts';

/** A block in the making. */
type Block =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; id: string; name: string; arguments: string };

/** An answer whole, as a message. */
export function wholeMessage(steps: readonly AnswerStep[], about: AnswerContext): unknown {
  const begin = steps.find((step) => step.kind === 'begin');
  const counted = steps.findLast((step) => step.kind === 'usage');
  const end = stopFields({
    finishReason: steps.findLast((step) => step.kind === 'finish')?.reason ?? null,
    stopSequence: steps.findLast((step) => step.kind === 'stopSequence')?.text ?? null,
    refused: steps.some((step) => step.kind === 'refusal'),
  });
  return {
    id: begin?.id ?? messageIdOf(about),
    type: 'message',
    role: 'assistant',
    model: about.model,
    content: blocksOf(steps).map((block, index) => blockFields(block, `${messageIdOf(about)}_${index}`)),
    ...end,
    usage: counted === undefined ? NO_USAGE : usageFields(counted.usage),
  };
}

function blocksOf(steps: readonly AnswerStep[]): readonly Block[] {
  const blocks: Block[] = [];
  const calls = new Map<number, Extract<Block, { type: 'tool_use' }>>();
  const last = (): Block | undefined => blocks.at(-1);
  /** The thoughts that nothing has ended yet. */
  const thoughts = (): Extract<Block, { type: 'thinking' }> => {
    const open = last();
    if (open?.type === 'thinking' && open.signature === '') return open;
    const block: Extract<Block, { type: 'thinking' }> = { type: 'thinking', thinking: '', signature: '' };
    blocks.push(block);
    return block;
  };
  const say = (text: string): void => {
    const open = last();
    if (open?.type === 'text') open.text += text;
    else if (text !== '') blocks.push({ type: 'text', text });
  };
  for (const step of steps) {
    switch (step.kind) {
      case 'text':
      case 'refusal':
        say(step.text);
        break;
      case 'reasoning':
        if (step.text !== '') thoughts().thinking += step.text;
        break;
      case 'reasoningProof':
        thoughts().signature = step.proof;
        break;
      case 'redactedReasoning':
        blocks.push({ type: 'redacted_thinking', data: step.proof });
        break;
      case 'toolCall': {
        const known = calls.get(step.index);
        const call = known ?? { type: 'tool_use' as const, id: '', name: '', arguments: '' };
        if (known === undefined) {
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

/** The arguments of a call. An answer cut short leaves text that is no object: it is shown as it is, not left out. */
function inputOf(text: string): Fields {
  if (text.trim() === '') return {};
  const input = parseJson(Buffer.from(text));
  return isObject(input) ? input : { unparsed: text };
}
