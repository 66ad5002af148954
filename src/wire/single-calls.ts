import type { Losses, NeutralChat } from '../domain/chat/neutral-chat.ts';

/**
 * Notes, for a dialect that cannot say it, that one tool is to be called at a time. With one tool, or one that must be called,
 * models do so by themselves, and clients say it on every such request; between several it would be another answer.
 */
export function noteSingleCalls({ parallelToolCalls, tools, toolChoice }: NeutralChat, losses: Losses): void {
  if (parallelToolCalls !== false || tools.length === 0 || toolChoice?.mode === 'none') return;
  if (tools.length === 1 || toolChoice?.mode === 'tool') losses.hint('parallel_tool_calls');
  else losses.essential('parallel_tool_calls');
}
