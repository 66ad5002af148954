import { type Alias, type Document, isAlias, isMap, isSeq, visit } from 'yaml';

/** Most values that the aliases of a file stand for: more is an attack, or a mistake. */
const MOST_ALIASED = 100_000;

/** An alias that cannot be expanded. */
export interface AliasFault {
  readonly alias: Alias;
  readonly ancestors: readonly unknown[];
  readonly message: string;
}

/** The first alias without an anchor, that contains itself, or with which all aliases stand for too many values; null for none. */
export function aliasFault(document: Document): AliasFault | null {
  const weights = new Map<unknown, number>();
  let total = 0;
  let found: AliasFault | null = null;
  visit(document, {
    Alias(_key, alias, ancestors) {
      const target = alias.resolve(document);
      const message = target === undefined ? `*${alias.source} has no anchor &${alias.source} before it` : null;
      total += target === undefined ? 0 : weightOf(target, { document, weights });
      const excess = Number.isNaN(total) || total === Infinity ? 'contains itself' : null;
      const tooMany = `aliases stand for more than ${MOST_ALIASED} values in all`;
      const fault = message ?? excess ?? (total > MOST_ALIASED ? tooMany : null);
      if (fault === null) return undefined;
      found = { alias, ancestors, message: fault };
      return visit.BREAK;
    },
  });
  return found;
}

/** Number of values below a node with its aliases expanded; infinite where it contains itself. */
function weightOf(
  node: unknown,
  about: { readonly document: Document; readonly weights: Map<unknown, number> },
): number {
  const { document, weights } = about;
  if (isAlias(node)) return weightOf(node.resolve(document), about);
  const known = weights.get(node);
  if (known !== undefined) return known;
  // Infinite while it is counted, so that a node within itself is infinite.
  weights.set(node, Infinity);
  const children: readonly unknown[] = isMap(node)
    ? node.items.map(({ value }) => value)
    : isSeq(node)
      ? node.items
      : [];
  let weight = 1;
  for (const child of children) weight += weightOf(child, about);
  weights.set(node, weight);
  return weight;
}
