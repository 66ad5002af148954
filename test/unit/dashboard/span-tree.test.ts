import { expect, it } from 'vitest';
import { compareNs, inTreeOrder } from '../../../src/dashboard/span-tree.ts';

const span = (spanId: string, parentSpanId: string | null, startNs: string) => ({ spanId, parentSpanId, startNs });
const shape = (spans: Parameters<typeof inTreeOrder>[0]) =>
  inTreeOrder(spans).map((placed) => `${'-'.repeat(placed.depth)}${placed.span.spanId}`);

it('parents come before children, siblings by start, and a span without a known parent is a root', () => {
  expect(
    shape([
      span('late', 'root', '30'),
      span('leaf', 'early', '25'),
      span('early', 'root', '20'),
      span('root', null, '10'),
      span('orphan', 'unknown', '5'),
    ]),
  ).toEqual(['orphan', 'root', '-early', '--leaf', '-late']);
});

it('a cycle of parents is shown once', () => {
  expect(shape([span('a', 'b', '1'), span('b', 'a', '2'), span('self', 'self', '3')])).toEqual(['a', '-b', 'self']);
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
