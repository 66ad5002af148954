import type { Losses, NeutralChat } from '../domain/chat/neutral-chat.ts';

/**
 * Adds `parallel_tool_calls: false` to `losses`, for a dialect without this setting. Adds nothing when no tool can be
 * called. With one callable tool the loss is a hint: clients send the setting by default, and models call one tool at a
 * time. With several tools the loss can change the answer, so it is essential.
 */
export function noteDisabledParallelToolCalls(
  { parallelToolCalls, tools, toolChoice }: NeutralChat,
  losses: Losses,
): void {
  if (parallelToolCalls !== false || tools.length === 0 || toolChoice?.mode === 'none') return;
  if (tools.length === 1 || toolChoice?.mode === 'tool') losses.hint('parallel_tool_calls');
  else losses.essential('parallel_tool_calls');
}
