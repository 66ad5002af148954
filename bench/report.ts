import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RESULTS = join(import.meta.dirname, 'RESULTS.md');
const RUNS_FOLDER = join(import.meta.dirname, 'results');

/** A Markdown table; the first row names the columns. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Verdicts on a goal, from the worst to the best. */
const VERDICTS = ['missed', 'desired bound missed', 'within required', 'within desired'] as const;
type Verdict = (typeof VERDICTS)[number];

/** A required bound of a goal that has only a desired one. */
export const NO_BOUND = 'none';

/** Verdict on a goal with a required bound. */
export function verdictOn(isWithinRequired: boolean, isWithinDesired = false): Verdict {
  if (isWithinDesired) return 'within desired';
  return isWithinRequired ? 'within required' : 'missed';
}

/** A row of a table of goals: required bound or `NO_BOUND`, desired bound, figure, verdict. */
export const goal = (
  what: string,
  [required, desired]: readonly [string, string],
  measured: string,
  [isWithinRequired, isWithinDesired]: readonly [boolean, boolean],
): readonly string[] => {
  const verdict =
    required === NO_BOUND && !isWithinDesired ? 'desired bound missed' : verdictOn(isWithinRequired, isWithinDesired);
  return [what, required, desired, measured, verdict];
};

/**
 * The goals of several runs in one table. A verdict holds when at least two thirds of the runs have it or a better one.
 */
export const judged = (runs: readonly (readonly (readonly string[])[])[]): string[][] =>
  (runs[0] ?? []).map((first, at) => {
    const rows = runs.map((goals) => goals[at] ?? []);
    const ranks = rows.map(([, , , , verdict]) => VERDICTS.findIndex((one) => one === verdict));
    const isSupported = (rank: number): boolean => ranks.filter((one) => one >= rank).length * 3 >= ranks.length * 2;
    const verdict = VERDICTS.findLast((_verdict, rank) => isSupported(rank)) ?? 'missed';
    const measured = rows.map(([, , , one = '']) => one).join(' / ');
    return [...first.slice(0, 3), measured, verdict];
  });

/** Writes a whole run to bench/results, and its goals as one part of bench/RESULTS.md. */
export function writePart(name: string, text: string): void {
  const whole = text.trim();
  mkdirSync(RUNS_FOLDER, { recursive: true });
  writeFileSync(join(RUNS_FOLDER, `${name}.md`), `${whole.replace(/^## /, '# ')}\n`);
  const before = readFileSync(RESULTS, 'utf8');
  const [open, close] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const part = `${open}\n\n${summaryOf(name, whole)}\n\n${close}`;
  const [from, to] = [before.indexOf(open), before.indexOf(close)];
  const after =
    from >= 0 && to > from
      ? `${before.slice(0, from)}${part}${before.slice(to + close.length)}`
      : `${before.trimEnd()}\n\n${part}\n`;
  writeFileSync(RESULTS, after);
}

/** Title, conditions of measurement and goals of a run. */
export function summaryOf(name: string, text: string): string {
  const paragraphs = text.split('\n\n').flatMap((paragraph) => {
    if (paragraph.startsWith('Measured ')) return [`${paragraph} [Whole run](results/${name}.md).`];
    return /^(## |\| Goal )/.test(paragraph) ? [paragraph] : [];
  });
  return paragraphs.join('\n\n');
}
