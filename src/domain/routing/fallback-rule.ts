import type { ModelRequest } from '../chat/chat.ts';
import type { DomainError } from '../errors.ts';
import { type Fallback, isTooLong, NO_RETRIES } from '../inference/retries.ts';
import { isRefusedContent } from './failure-class.ts';
import { type FallbackLists, type FallbackPolicy, MAX_FALLBACKS } from './routing-policy.ts';

/**
 * Models to call after a failure, in order. Those that the request names replace the configured ones. The failed
 * model and repetitions are left out of the configured ones. A model without configured ones that an auto router
 * selected has those of the router.
 */
export function fallbacksAfter(
  failure: DomainError,
  { model, retries = NO_RETRIES, routing }: Pick<ModelRequest, 'model' | 'retries' | 'routing'>,
  policy: FallbackPolicy,
): readonly Fallback[] {
  if (retries.withoutFallbacks) return [];
  const contextModel = isTooLong(failure) ? retries.contextFallbacks.get(model) : undefined;
  const requested =
    contextModel === undefined ? retries.fallbacks : [{ model: contextModel, members: {} }, ...retries.fallbacks];
  if (requested.length > 0) return requested.slice(0, MAX_FALLBACKS);
  const ofModel = configuredAfter(failure, model, policy);
  const names = new Set(
    ofModel.length === 0 && routing !== undefined ? configuredAfter(failure, routing.router, policy) : ofModel,
  );
  names.delete(model);
  return [...names].slice(0, policy.most).map((name) => ({ model: name, members: {} }));
}

/**
 * The general list of a model, or its list for conversations that are too long, or for refused content. After one of
 * these two failures only the specific list applies, if any model has such a list.
 */
function configuredAfter(failure: DomainError, model: string, policy: FallbackPolicy): readonly string[] {
  const { general, contextWindow, contentPolicy, standard } = policy;
  if (contextWindow.size > 0 && isTooLong(failure)) return listOf(contextWindow, model) ?? [];
  if (contentPolicy.size > 0 && isRefusedContent(failure)) return listOf(contentPolicy, model) ?? [];
  return listOf(general, model) ?? standard;
}

/** The list of a group, by its name with or without a provider prefix; else the list of all groups. */
function listOf(lists: FallbackLists, model: string): readonly string[] | undefined {
  if (lists.size === 0) return undefined;
  const bare = model.slice(model.indexOf('/') + 1);
  const prefixed = (): readonly string[] | undefined =>
    [...lists].find(([name]) => name.slice(name.indexOf('/') + 1) === model)?.[1];
  return lists.get(model) ?? lists.get(bare) ?? prefixed() ?? lists.get('*');
}
