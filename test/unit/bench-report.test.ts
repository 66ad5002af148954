import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { summaryOf } from '../../bench/report.ts';

it('a summary for bench/RESULTS.md has the title, conditions and goals of a run', () => {
  const run = '## Title\n\nMeasured today.\n\nText.\n\n| Target | a |\n| --- | --- |\n\n| Goal | b |\n| --- | --- |';
  expect(summaryOf('name', run)).toBe(
    '## Title\n\nMeasured today. [Whole run](results/name.md).\n\n| Goal | b |\n| --- | --- |',
  );
});

it.each(['gateway', 'startup', 'catalog', 'traces', 'fanout', 'trace-cores'])(
  'bench/RESULTS.md has the goals of the newest run of %s',
  (name) => {
    const read = (path: string): string => readFileSync(join(import.meta.dirname, '../../bench', path), 'utf8');
    const cells = (text: string): readonly string[] =>
      text
        .split('\n')
        .filter((line) => line.startsWith('| ') && !line.includes('---'))
        .map((line) => line.replaceAll(/ +/g, ' '));
    const part = read('RESULTS.md').split(`<!-- ${name} -->`)[1]?.split('<!--')[0] ?? '';
    const goals = summaryOf(name, read(`results/${name}.md`));
    expect(cells(part).length).toBeGreaterThan(2);
    expect(cells(part)).toEqual(cells(goals));
  },
);
