import { forcesToolCall, hasResultWithoutThinking } from '../../domain/chat/claude-thinking.ts';
import type { Losses, NeutralChat, Reasoning } from '../../domain/chat/neutral-chat.ts';
import { effortOf, thoughtBudgetOf } from '../../domain/chat/reasoning.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import type { ModelFeatures } from './model-features.ts';

/** Thinking settings of a request, and its output limit, which may include the thinking budget. */
export interface Thinking {
  readonly thinking: Fields | null;
  readonly effort: string | null;
  readonly maxTokens: number;
}

/** Smallest thinking budget in tokens. */
const MIN_BUDGET = 1024;

/**
 * Thinking settings for a chat and the features of its model. `maxTokens` applies when the caller sets no limit.
 * `answersByTool` means that the request forces a call of the answer tool. A forced tool call keeps thinking off.
 */
export function writeThinking(
  chat: NeutralChat,
  features: ModelFeatures,
  { maxTokens, answersByTool }: { readonly maxTokens: number; readonly answersByTool: boolean },
  losses: Losses,
): Thinking {
  const { reasoning, maxOutputTokens } = chat;
  const none: Thinking = { thinking: null, effort: null, maxTokens: maxOutputTokens ?? maxTokens };
  if (reasoning === null) return none;
  const effort = effortOf(reasoning);
  if (effort === null && reasoning.shown === null) return none;
  if (features.thinks === 'never') {
    if (effort !== 'none') losses.essential('reasoning_effort');
    return none;
  }
  const isForced = answersByTool || forcesToolCall(chat);
  const cannotThink = isForced && effort !== 'none';
  if (cannotThink) losses.hint('reasoning_effort');
  if (features.thinks === 'by effort') {
    const settings = byEffort(effort, reasoning);
    return cannotThink ? { ...none, effort: settings.effort } : { ...none, ...settings };
  }
  // Older models do not think by default.
  if (isForced || effort === 'none') return none;
  return byBudget(chat, reasoning, maxTokens, losses) ?? none;
}

function byEffort(effort: string | null, { shown }: Reasoning): Pick<Thinking, 'thinking' | 'effort'> {
  if (effort === 'none') return { thinking: { type: 'disabled' }, effort: null };
  const thinking = withoutNulls({ type: 'adaptive', display: displayOf(shown) });
  return { thinking, effort: effort === 'minimal' ? 'low' : effort };
}

function displayOf(shown: boolean | null): string | null {
  if (shown === null) return null;
  return shown ? 'summarized' : 'omitted';
}

/** Thinking with a budget below the output limit. Null when the request cannot enable thinking. */
function byBudget(chat: NeutralChat, reasoning: Reasoning, maxTokens: number, losses: Losses): Thinking | null {
  const wantedBudget = Math.max(MIN_BUDGET, thoughtBudgetOf(reasoning) ?? MIN_BUDGET);
  const outputLimit = chat.maxOutputTokens;
  const budget = outputLimit === null ? wantedBudget : Math.min(wantedBudget, outputLimit - 1);
  if (budget < MIN_BUDGET || hasResultWithoutThinking(chat.messages)) {
    losses.hint('reasoning_effort');
    return null;
  }
  const thinking = withoutNulls({ type: 'enabled', budget_tokens: budget, display: displayOf(reasoning.shown) });
  // The thinking tokens count against the limit, so the default limit grows by the budget.
  return { thinking, effort: null, maxTokens: outputLimit ?? maxTokens + budget };
}
