import type { Losses, NeutralChat, NeutralMessage, Reasoning } from '../../domain/chat/neutral-chat.ts';
import { effortOf, thoughtBudgetOf } from '../../domain/chat/reasoning.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import type { ModelFeatures } from './model-features.ts';

/** How a request asks for thought, and how much of an answer that leaves room for. */
export interface Thought {
  readonly thinking: Fields | null;
  readonly effort: string | null;
  readonly maxTokens: number;
}

/** Fewest tokens of thought that can be asked for. */
const LEAST_BUDGET = 1024;

/** The thought a chat asks for, in the form its model takes. `maxTokens` is the limit where the caller sets none. */
export function writeThought(chat: NeutralChat, features: ModelFeatures, maxTokens: number, losses: Losses): Thought {
  const { reasoning, maxOutputTokens } = chat;
  const none: Thought = { thinking: null, effort: null, maxTokens: maxOutputTokens ?? maxTokens };
  if (reasoning === null) return none;
  const effort = effortOf(reasoning);
  if (effort === null && reasoning.shown === null) return none;
  if (features.thinks === 'never') {
    if (effort !== 'none') losses.essential('reasoning_effort');
    return none;
  }
  if (features.thinks === 'by effort') return { ...none, ...byEffort(effort, reasoning) };
  // Without being asked, the older models do not think.
  if (effort === 'none') return none;
  return byBudget(chat, reasoning, maxTokens, losses) ?? none;
}

function byEffort(effort: string | null, { shown }: Reasoning): Pick<Thought, 'thinking' | 'effort'> {
  if (effort === 'none') return { thinking: { type: 'disabled' }, effort: null };
  const thinking = withoutNulls({ type: 'adaptive', display: displayOf(shown) });
  return { thinking, effort: effort === 'minimal' ? 'low' : effort };
}

const displayOf = (shown: boolean | null): string | null => (shown === null ? null : shown ? 'summarized' : 'omitted');

/** Thought within a budget, which must leave room for the answer itself; null where it cannot be had. */
function byBudget(chat: NeutralChat, reasoning: Reasoning, maxTokens: number, losses: Losses): Thought | null {
  const wanted = Math.max(LEAST_BUDGET, thoughtBudgetOf(reasoning) ?? LEAST_BUDGET);
  const most = chat.maxOutputTokens;
  const budget = most === null ? wanted : Math.min(wanted, most - 1);
  // These models must be sent the thoughts that led to a call together with its result, and other dialects drop them.
  if (budget < LEAST_BUDGET || answersThoughtlessCall(chat.messages)) {
    losses.hint('reasoning_effort');
    return null;
  }
  const thinking = withoutNulls({ type: 'enabled', budget_tokens: budget, display: displayOf(reasoning.shown) });
  return { thinking, effort: null, maxTokens: most ?? maxTokens + budget };
}

/** Whether a tool's result answers a call whose thoughts, or their proof, are not among the messages. */
function answersThoughtlessCall(messages: readonly NeutralMessage[]): boolean {
  return messages.some((message, index) => {
    const before = messages[index - 1];
    if (message.role !== 'tool' || before?.role !== 'assistant') return false;
    return !before.content.some((part) => part.kind === 'reasoning' && part.proof !== null);
  });
}
