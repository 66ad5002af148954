/** Tag of deployments for requests whose tags match no other deployment. */
const DEFAULT_TAG = 'default';

/** Whether a tag excludes (`!`) or requires (`&`) another tag. */
export const isMarkedTag = (tag: string): boolean => /^[!&]/.test(tag);

/** Tag settings of a deployment. */
export interface Tagged {
  readonly tags?: readonly string[];
  /** Patterns that the text `User-Agent: <value>` of a request may match in place of a tag. */
  readonly tagPatterns?: readonly RegExp[];
}

/** What a request says for the tag filter. */
export interface RequestedTags {
  /** `!x` excludes deployments with the tag x, `&x` requires the tag x. Other tags are called plain. */
  readonly tags: readonly string[];
  /** Null without a `User-Agent` header. */
  readonly userAgent: string | null;
  /** Whether one common plain tag is enough. If not, a deployment needs every plain tag. */
  readonly matchesAny: boolean;
}

/**
 * The items that a request may use, in their order; empty when the tags allow none. Items with an excluded tag, or
 * without a required tag, are left out first. Of the rest, the result is
 *
 * - the items that match a plain tag or the user agent, if there are any
 * - else, for a request with required tags only: all of them
 * - else, for a request with plain tags, or if any item has the tag `default`: the items with the tag `default`
 * - else all of them
 */
export function itemsForTags<Item>(
  items: readonly Item[],
  tagsOf: (item: Item) => Tagged | undefined,
  { tags, userAgent, matchesAny }: RequestedTags,
): readonly Item[] {
  const excluded = stripped(tags, '!');
  const required = stripped(tags, '&');
  const plain = tags.filter((tag) => !isMarkedTag(tag));
  const itemTags = (item: Item): readonly string[] => tagsOf(item)?.tags ?? [];
  const allowed = items.filter((item) => {
    const hasTag = (tag: string): boolean => itemTags(item).includes(tag);
    return !excluded.some(hasTag) && required.every(hasTag);
  });
  const matched = allowed.filter((item) => {
    const tagsOfItem = itemTags(item);
    const hasTag = (tag: string): boolean => tagsOfItem.includes(tag);
    if (plain.length > 0 && (matchesAny ? plain.some(hasTag) : plain.every(hasTag))) return true;
    // Where all tags must match, a pattern does not replace a missing tag.
    if (plain.length > 0 && !matchesAny && tagsOfItem.length > 0) return false;
    const patterns = tagsOf(item)?.tagPatterns ?? [];
    return userAgent !== null && patterns.some((pattern) => pattern.test(`User-Agent: ${userAgent}`));
  });
  if (matched.length > 0) return matched;
  if (plain.length === 0 && required.length > 0) return allowed;
  const isDefault = (item: Item): boolean => itemTags(item).includes(DEFAULT_TAG);
  if (plain.length > 0 || items.some(isDefault)) return allowed.filter(isDefault);
  return allowed;
}

/** Tags with a mark, without the mark. */
const stripped = (tags: readonly string[], mark: '!' | '&'): readonly string[] =>
  tags.filter((tag) => tag.startsWith(mark) && tag.length > 1).map((tag) => tag.slice(1));
