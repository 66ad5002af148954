import type { NeutralChat, NeutralMessage } from './neutral-chat.ts';

/** Whether a chat requires a tool call. Claude rejects enabled thinking in such a request. */
export function forcesToolCall({ tools, toolChoice }: Pick<NeutralChat, 'tools' | 'toolChoice'>): boolean {
  return tools.length > 0 && (toolChoice?.mode === 'required' || toolChoice?.mode === 'tool');
}

/**
 * Whether a tool result follows an assistant message without signed reasoning. Claude models with a thinking budget
 * reject such messages when thinking is enabled. Callers of other dialects often omit the reasoning.
 */
export function hasResultWithoutThinking(messages: readonly NeutralMessage[]): boolean {
  return messages.some((message, index) => {
    const before = messages[index - 1];
    if (message.role !== 'tool' || before?.role !== 'assistant') return false;
    return !before.content.some((part) => part.kind === 'reasoning' && part.proof !== null);
  });
}
