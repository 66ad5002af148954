import { expect, it } from 'vitest';
import { compareNs, inTreeOrder } from '../../../src/dashboard/span-tree.ts';

const span = (spanId: string, parentSpanId: string | null, startNs: string) => ({ spanId, parentSpanId, startNs });
/** Ids in the order of the tree, with a hyphen for each level. */
const treeOf = (spans: Parameters<typeof inTreeOrder>[0]) =>
  inTreeOrder(spans).map((placed) => `${'-'.repeat(placed.depth)}${placed.span.spanId}`);

it('parents come before children, siblings are in the order of their starts, and a span with an unknown parent is a root', () => {
  expect(
    treeOf([
      span('late', 'root', '30'),
      span('leaf', 'early', '25'),
      span('early', 'root', '20'),
      span('root', null, '10'),
      span('orphan', 'unknown', '5'),
    ]),
  ).toEqual(['orphan', 'root', '-early', '--leaf', '-late']);
});

it('each span of a cycle of parents is shown once', () => {
  expect(treeOf([span('a', 'b', '1'), span('b', 'a', '2'), span('self', 'self', '3')])).toEqual(['a', '-b', 'self']);
});

it('a chain of 100,000 spans does not exhaust the stack', () => {
  const chain = Array.from({ length: 100_000 }, (_, index) =>
    span(`s${index}`, index === 0 ? null : `s${index - 1}`, String(index)),
  );
  expect(inTreeOrder(chain).at(-1)?.depth).toBe(99_999);
});

it('compares nanoseconds that a number cannot distinguish', () => {
  expect(compareNs('1764500000000000001', '1764500000000000002')).toBe(-1);
  expect(compareNs('1764500000000000002', '1764500000000000002')).toBe(0);
});
