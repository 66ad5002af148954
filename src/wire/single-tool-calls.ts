import type { Losses, NeutralChat } from '../domain/chat/neutral-chat.ts';

/**
 * Adds `parallel_tool_calls: false` to `losses`, for a dialect without such a setting. It is a hint when only one tool
 * can be called: models then call it once at a time. Clients also send the member by default. With several tools the
 * answer could differ, so it is essential.
 */
export function noteSingleToolCalls({ parallelToolCalls, tools, toolChoice }: NeutralChat, losses: Losses): void {
  if (parallelToolCalls !== false || tools.length === 0 || toolChoice?.mode === 'none') return;
  if (tools.length === 1 || toolChoice?.mode === 'tool') losses.hint('parallel_tool_calls');
  else losses.essential('parallel_tool_calls');
}
