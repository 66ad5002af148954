import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The root of the repository. */
export const ROOT = join(dirname(import.meta.dirname), '..');

/** Text file of the repository. */
export interface SourceFile {
  /** Path from the root. */
  readonly path: string;
  readonly text: string;
}

const UNREAD = /^(node_modules|\.git|\.lensgate|coverage|dist)\/|\/(generated|canary)\//;

/** Text files that match a pattern, without planted faults (`canary`) and generated files. */
export function readFiles(...patterns: readonly string[]): readonly SourceFile[] {
  return globSync([...patterns], { cwd: ROOT, exclude: ['node_modules', '.git', '.lensgate', 'dist'] })
    .filter((path) => !UNREAD.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** Removes comments from a source text, and parts of strings that look like comments. Line numbers stay unchanged. */
export function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[^:'"`\\])\/\/[^\n]*/g, '$1');
}

/** Matches of a pattern, as `path:line: text`. */
export function occurrences(files: readonly SourceFile[], pattern: RegExp): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}
