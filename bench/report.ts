import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RESULTS = join(import.meta.dirname, 'RESULTS.md');
const INTRODUCTION = `# Results

Written by the scripts in this folder (\`npm run bench:catalog\`, \`bench:gateway\`, \`bench:startup\`, \`bench:traces\`, \`bench:trace-cores\`, \`bench:fanout\`); each replaces its own part.
Everything ran on one machine over loopback. Compare only figures of one part: they come from one run, in which
the targets were loaded in turn (A B C, A B C, …). Absolute figures of two days or two machines say nothing.
`;

/** A Markdown table; the first row names the columns. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A row of a table of goals: what must hold, what would be better still, what was seen, and whether each holds. */
export const goal = (
  what: string,
  [must, reach]: readonly [string, string],
  seen: string,
  [met, reached]: readonly [boolean, boolean],
): readonly string[] => [what, must, reach, seen, reached ? 'reached' : met ? 'met' : 'missed'];

/** How much a verdict says. */
const VERDICTS = ['missed', 'met', 'reached'];

/** The goals of several runs in one table, with what each saw of them; a verdict is one that two of three runs bear out. */
export const judged = (runs: readonly (readonly (readonly string[])[])[]): string[][] =>
  (runs[0] ?? []).map((first, at) => {
    const rows = runs.map((goals) => goals[at] ?? []);
    const ranks = rows.map(([, , , , verdict = '']) => VERDICTS.indexOf(verdict));
    const borneOut = (rank: number): boolean => ranks.filter((one) => one >= rank).length * 3 >= ranks.length * 2;
    const verdict = VERDICTS.findLast((_verdict, rank) => borneOut(rank)) ?? 'missed';
    const seen = rows.map(([, , , one = '']) => one).join(' / ');
    return [...first.slice(0, 3), seen, verdict];
  });

/** Replaces one part of bench/RESULTS.md, or appends it. */
export function writePart(name: string, text: string): void {
  const before = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : INTRODUCTION;
  const [open, close] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const part = `${open}\n\n${text.trim()}\n\n${close}`;
  const [from, to] = [before.indexOf(open), before.indexOf(close)];
  const after =
    from >= 0 && to > from
      ? `${before.slice(0, from)}${part}${before.slice(to + close.length)}`
      : `${before.trimEnd()}\n\n${part}\n`;
  writeFileSync(RESULTS, after);
}
