import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OPTIMIZATIONS } from '../../bench/switches/optimizations.ts';
import { figuresOf } from '../../bench/switches/pairs.ts';

it('bench:switches measures every row of the table of switches in docs/performance.md', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/performance.md'), 'utf8');
  const rows = document.matchAll(/^\| \[([^\]]+)\]\(\S+\) +\| (.+?) +\| [\d.]+ +\| `(\w+)=(\w+)` +\|$/gm);
  const documented = [...rows].map(([, name, row, variable = '', value]) => ({
    name,
    row,
    off: { [variable]: value },
  }));
  expect(documented.length).toBeGreaterThan(9);
  expect(OPTIMIZATIONS.map(({ name, row, off }) => ({ name, row, off }))).toEqual(documented);
});

it('the ratio of a switch is the median of the ratios of the paired rounds', () => {
  const pairs = [
    { on: 10, off: 20 },
    { on: 100, off: 150 },
    { on: 20, off: 60 },
  ];
  // The ratio of the medians would be 3.
  expect(figuresOf(pairs)).toEqual(['20.0', '60.0', '2.00', '1.50', '3.00']);
});
