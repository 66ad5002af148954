import { tagsIn } from '../../domain/calls/call-labels.ts';
import { tagsOfKey } from '../../domain/calls/call-tags.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { SelectionPolicy } from '../../domain/routing/selection-policy.ts';
import { isMarkedTag, itemsForTags } from '../../domain/routing/tag-filter.ts';
import type { Route } from './route.ts';

/** The routes that the tags of a call allow. */
interface TaggedRoutes {
  /** Empty when the tags allow no route. */
  readonly routes: readonly Route[];
  readonly tags: readonly string[];
}

const NO_TAGS: readonly string[] = [];

/**
 * The routes that a call may use by its tags; all routes where tags do not select. Required and excluded tags of the
 * caller may leave no route of a model with `allow_fail_open`. Then only the tags of the key, its team and its project
 * apply.
 */
export function taggedRoutes(
  routes: readonly Route[],
  {
    key,
    policy,
    request: { labels, userAgent },
  }: {
    readonly key: VirtualKey | null;
    readonly policy: SelectionPolicy;
    readonly request: Pick<ModelRequest, 'labels' | 'userAgent'>;
  },
): TaggedRoutes {
  if (!filtersTags(policy, routes)) return { routes, tags: NO_TAGS };
  const sent = labels === undefined ? NO_TAGS : tagsIn(labels);
  const { tagPrefix: prefix, matchesAnyTag: matchesAny } = policy;
  const withoutPrefix = (tags: readonly string[]): readonly string[] =>
    prefix === '' ? tags : tags.map((tag) => (tag.startsWith(prefix) ? tag.slice(prefix.length) : tag));
  const tags = withoutPrefix(sent);
  const routesFor = (some: readonly string[]): readonly Route[] =>
    itemsForTags(routes, ({ deployment }) => deployment.selection, {
      tags: some,
      userAgent: userAgent ?? null,
      matchesAny,
    });
  const allowed = routesFor(tags);
  if (allowed.length > 0 || !routes.some(({ deployment }) => deployment.selection?.failsOpen === true))
    return { routes: allowed, tags: sent };
  const plain = tags.filter((tag) => !isMarkedTag(tag));
  // The plain tags alone may leave no route, too.
  const isByMarkedTags = plain.length < tags.length && routesFor(plain).length > 0;
  const inherited = key === null ? NO_TAGS : withoutPrefix(tagsOfKey(key));
  return { routes: isByMarkedTags ? routesFor(inherited) : allowed, tags: sent };
}

/** Whether tags select the deployment. Deployments may turn it on or off for their model. */
function filtersTags({ tagFiltering }: SelectionPolicy, routes: readonly Route[]): boolean {
  if (tagFiltering === 'always') return true;
  const own = routes.map(({ deployment }) => deployment.selection?.tagFiltering).filter((flag) => flag !== undefined);
  return own.length === 0 ? tagFiltering === 'on' : own.includes(true);
}
