import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerContext, AnswerWriter } from '../dialect.ts';
import type { Fields } from '../json/fields.ts';
import { type AnswerEnd, messageIdOf, NO_USAGE, stopFields, usageFields } from './message.ts';

/** Ping event. Keeps an idle connection open. */
export const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

type BlockKind = 'text' | 'thinking' | 'tool';

/**
 * Writes an answer as the events of a message. Content is written immediately, in a block of its kind. The stop reason
 * is written at the end, because its event also contains the usage.
 */
export function createEventWriter(context: AnswerContext): AnswerWriter {
  /** Indexes of content blocks, by the index of their tool call. */
  const blockOfCall = new Map<number, number>();
  let hasBegun = false;
  let blockCount = 0;
  /** Kind of the most recently started block. Null when this block is closed. */
  let openKind: BlockKind | null = null;
  let answerEnd: AnswerEnd = { finishReason: null, stopSequence: null, hasRefusal: false };
  let usage: Usage | null = null;

  function begin(id: string | null): string {
    if (hasBegun) return '';
    hasBegun = true;
    const message = {
      id: id ?? messageIdOf(context),
      type: 'message',
      role: 'assistant',
      model: context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usage === null ? NO_USAGE : usageFields(usage),
    };
    return `${event('message_start', { message })}${PING}`;
  }

  const closeBlock = (): string => {
    if (openKind === null) return '';
    openKind = null;
    return event('content_block_stop', { index: blockCount - 1 });
  };

  function startBlock(kind: BlockKind, block: Fields): string {
    const closeEvent = closeBlock();
    openKind = kind;
    blockCount += 1;
    return `${closeEvent}${event('content_block_start', { index: blockCount - 1, content_block: block })}`;
  }

  const delta = (fields: Fields, index = blockCount - 1): string =>
    event('content_block_delta', { index, delta: fields });

  function writeText(piece: string): string {
    if (piece === '') return '';
    const startEvents = openKind === 'text' ? '' : startBlock('text', { type: 'text', text: '' });
    return `${startEvents}${delta({ type: 'text_delta', text: piece })}`;
  }

  /** Starts a thinking block, unless one is open. */
  const startThinking = (): string =>
    openKind === 'thinking' ? '' : startBlock('thinking', { type: 'thinking', thinking: '', signature: '' });

  function writeToolCall({ index, id, name, arguments: piece }: Extract<AnswerStep, { kind: 'toolCall' }>): string {
    const knownBlock = blockOfCall.get(index);
    let startEvents = '';
    if (knownBlock === undefined) {
      const identity = { id: id ?? `${messageIdOf(context)}_${index}`, name: name ?? '' };
      startEvents = startBlock('tool', { type: 'tool_use', ...identity, input: {} });
      blockOfCall.set(index, blockCount - 1);
    }
    if (piece === '') return startEvents;
    // Clients join pieces by block index. So a late piece of an earlier call keeps the index of its block.
    return `${startEvents}${delta({ type: 'input_json_delta', partial_json: piece }, knownBlock ?? blockCount - 1)}`;
  }

  function writeContent(step: AnswerStep): string {
    switch (step.kind) {
      case 'text':
        return writeText(step.text);
      case 'refusal':
        answerEnd = { ...answerEnd, hasRefusal: true };
        return writeText(step.text);
      case 'reasoning':
        return step.text === '' ? '' : `${startThinking()}${delta({ type: 'thinking_delta', thinking: step.text })}`;
      case 'reasoningProof':
        return `${startThinking()}${delta({ type: 'signature_delta', signature: step.proof })}${closeBlock()}`;
      case 'redactedReasoning':
        return `${startBlock('thinking', { type: 'redacted_thinking', data: step.proof })}${closeBlock()}`;
      case 'toolCall':
        return writeToolCall(step);
      case 'finish':
        answerEnd = { ...answerEnd, finishReason: step.reason };
        return closeBlock();
      case 'begin':
      case 'usage':
      case 'stopSequence':
      case 'toolCallProof':
      case 'failure':
        return '';
    }
  }

  return {
    write(step) {
      if (step.kind === 'begin') return begin(step.id);
      if (step.kind === 'usage') usage = step.usage;
      if (step.kind === 'stopSequence') answerEnd = { ...answerEnd, stopSequence: step.text };
      const contentEvents = writeContent(step);
      return contentEvents === '' ? '' : `${begin(null)}${contentEvents}`;
    },
    end() {
      const counts = usage === null ? NO_USAGE : usageFields(usage);
      const endEvent = event('message_delta', { delta: stopFields(answerEnd), usage: counts });
      return `${begin(null)}${closeBlock()}${endEvent}${event('message_stop', {})}`;
    },
  };
}

const event = (type: string, rest: Fields): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
