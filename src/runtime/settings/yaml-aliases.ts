import { type Alias, type Document, isAlias, isMap, isSeq, visit } from 'yaml';

/** Maximum number of values to which the aliases of a file may expand, against exponential expansion. */
const MAX_ALIASED_VALUES = 100_000;

const TOO_MANY = `aliases stand for more than ${MAX_ALIASED_VALUES} values in all`;

/** An alias that cannot be expanded. */
export interface AliasFault {
  readonly alias: Alias;
  readonly ancestors: readonly unknown[];
  readonly message: string;
}

/**
 * The first alias that has no anchor, contains itself, or exceeds `MAX_ALIASED_VALUES` together with the aliases before
 * it. Null for none.
 */
export function aliasFault(document: Document): AliasFault | null {
  const weights = new Map<unknown, number>();
  let total = 0;
  let found: AliasFault | null = null;
  visit(document, {
    Alias(_key, alias, ancestors) {
      const target = alias.resolve(document);
      const anchorFault = target === undefined ? `*${alias.source} has no anchor &${alias.source} before it` : null;
      total += target === undefined ? 0 : weightOf(target, { document, weights });
      const cycleFault = Number.isFinite(total) ? null : 'contains itself';
      const sizeFault = total > MAX_ALIASED_VALUES ? TOO_MANY : null;
      const fault = anchorFault ?? cycleFault ?? sizeFault;
      if (fault === null) return undefined;
      found = { alias, ancestors, message: fault };
      return visit.BREAK;
    },
  });
  return found;
}

function childrenOf(node: unknown): readonly unknown[] {
  if (isMap(node)) return node.items.map(({ value }) => value);
  return isSeq(node) ? node.items : [];
}

/** Number of values in a node, itself included, with its aliases expanded; infinite where it contains itself. */
function weightOf(
  node: unknown,
  about: { readonly document: Document; readonly weights: Map<unknown, number> },
): number {
  const { document, weights } = about;
  if (isAlias(node)) return weightOf(node.resolve(document), about);
  const known = weights.get(node);
  if (known !== undefined) return known;
  // Infinite during the count, so that a node that contains itself is infinite.
  weights.set(node, Infinity);
  let weight = 1;
  for (const child of childrenOf(node)) weight += weightOf(child, about);
  weights.set(node, weight);
  return weight;
}
