import { median } from '../measure.ts';

/** CPU of one paired round, in µs a unit. */
export interface Pair {
  readonly on: number;
  readonly off: number;
}

/**
 * Columns of a table: median CPU with the part and without it, then median, lowest and highest ratio. A ratio divides
 * the CPU without the part by the CPU with it, in the same round.
 */
export function figuresOf(pairs: readonly Pair[]): readonly string[] {
  const ratios = pairs.map(({ on, off }) => off / on);
  const us = (values: readonly number[]): string => median(values).toFixed(1);
  return [
    us(pairs.map(({ on }) => on)),
    us(pairs.map(({ off }) => off)),
    ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)),
  ];
}
