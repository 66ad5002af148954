/** Tag of deployments that serve requests without a matching tag. */
const DEFAULT_TAG = 'default';

/** Whether a tag excludes or requires another tag. */
export const isMarkedTag = (tag: string): boolean => /^[!&]/.test(tag);

/** Tags of a deployment. */
export interface Tagged {
  readonly tags?: readonly string[];
  /** Patterns for `User-Agent: <value>`. */
  readonly tagPatterns?: readonly RegExp[];
}

/** Tags of a request: `!x` excludes deployments with the tag x, `&x` requires it. */
export interface RequestedTags {
  readonly tags: readonly string[];
  /** Null without a `User-Agent` header. */
  readonly userAgent: string | null;
  /** Whether one common tag is enough. If not, a deployment needs every plain tag. */
  readonly matchesAny: boolean;
}

/**
 * The items that a request may use by its tags. A request without a matching item gets those with the tag `default`.
 * A request without plain and required tags gets all items if none has that tag. Excluded tags apply to every result.
 * The result is empty when the tags allow no item.
 */
export function itemsForTags<Item>(
  items: readonly Item[],
  tagsOf: (item: Item) => Tagged | undefined,
  { tags, userAgent, matchesAny }: RequestedTags,
): readonly Item[] {
  const excluded = stripped(tags, '!');
  const required = stripped(tags, '&');
  const plain = tags.filter((tag) => !isMarkedTag(tag));
  const ownTags = (item: Item): readonly string[] => tagsOf(item)?.tags ?? [];
  const isAllowed = (item: Item): boolean => {
    const own = ownTags(item);
    return !excluded.some((tag) => own.includes(tag)) && required.every((tag) => own.includes(tag));
  };
  const allowed = items.filter(isAllowed);
  const matched = allowed.filter((item) => {
    const own = ownTags(item);
    const hasTags = matchesAny ? plain.some((tag) => own.includes(tag)) : plain.every((tag) => own.includes(tag));
    if (plain.length > 0 && hasTags) return true;
    // A pattern cannot override tags that must all match.
    if (plain.length > 0 && !matchesAny && own.length > 0) return false;
    const patterns = tagsOf(item)?.tagPatterns ?? [];
    return userAgent !== null && patterns.some((pattern) => pattern.test(`User-Agent: ${userAgent}`));
  });
  if (matched.length > 0) return matched;
  if (plain.length === 0 && required.length > 0) return allowed;
  const isDefault = (item: Item): boolean => ownTags(item).includes(DEFAULT_TAG);
  if (plain.length > 0 || items.some(isDefault)) return allowed.filter(isDefault);
  return allowed;
}

const stripped = (tags: readonly string[], mark: '!' | '&'): readonly string[] =>
  tags.filter((tag) => tag.startsWith(mark) && tag.length > 1).map((tag) => tag.slice(1));
