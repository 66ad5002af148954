// Time of one scan of all ids, per pattern, with the engine of the product. Prints one line of JSON.
//   node bench/catalog-scan.ts ROUNDS
import { findEntries, NO_ENTRY_FILTERS } from '../src/domain/catalog/find-entries.ts';
import { createPatternCompiler } from '../src/runtime/catalog/pattern.ts';
import { loadEmbeddedSnapshot } from '../src/runtime/catalog/snapshot.ts';
import { median } from './measure.ts';

const PATTERNS = [
  'gpt-4o',
  '^gpt-4',
  '^(openai|azure|anthropic)/',
  'claude-[0-9]+-(opus|sonnet)',
  '.*gpt.*mini.*',
  '(mini|nano|lite)$',
  '(a+)+$',
  '([a-z]+-)*[0-9]+b$',
];
const rounds = Number(process.argv[2]);
const { entries } = loadEmbeddedSnapshot();

/** Milliseconds of one scan, including the compilation of the pattern. */
function scan(source: string): number {
  const startedAt = performance.now();
  const compiled = createPatternCompiler().compile(source);
  if ('fault' in compiled) throw new Error(compiled.fault);
  findEntries(entries, NO_ENTRY_FILTERS, (id) => compiled.pattern.occursIn(id));
  return performance.now() - startedAt;
}

const scans = PATTERNS.map((pattern) => {
  const durations = Array.from({ length: rounds }, () => scan(pattern));
  return { pattern, firstMs: durations[0], medianMs: median(durations), bestMs: Math.min(...durations) };
});
console.log(JSON.stringify({ ids: entries.length, scans }));
