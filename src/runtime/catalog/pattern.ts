import { RE2JS } from 're2js';
import type { Pattern, PatternCompiler } from '../../domain/catalog/catalog.ts';
import { createWeightedCache } from '../../domain/catalog/weighted-cache.ts';
import { translatePattern } from './pattern-syntax.ts';

/** Maximum characters of a pattern. */
const MAX_CHARACTERS = 512;
/** Maximum instructions of a compiled pattern. */
const MAX_PROGRAM_SIZE = 5_000;
/** Maximum compiled patterns in memory. All pages of a list use the same pattern. */
const MAX_CACHED = 64;

type Compiled = ReturnType<PatternCompiler['compile']>;

/** A pattern without special characters, for which a plain search is enough. */
const LITERAL = /^[\w /:@-]*$/;

function literalPattern(source: string): Pattern {
  const part = source.toLowerCase();
  return { occursIn: (text) => text.toLowerCase().includes(part) };
}

function compile(source: string): Compiled {
  if (source.length > MAX_CHARACTERS) return { fault: `unsupported: pattern longer than ${MAX_CHARACTERS} characters` };
  if (LITERAL.test(source)) return { pattern: literalPattern(source) };
  const translated = translatePattern(source);
  if ('fault' in translated) return translated;
  try {
    const regex = RE2JS.compile(translated.code, RE2JS.CASE_INSENSITIVE);
    if (regex.programSize() > MAX_PROGRAM_SIZE) return { fault: 'unsupported: pattern too large' };
    return { pattern: { occursIn: (text) => regex.test(text) } };
  } catch (error) {
    // `translatePattern` has found every error of Python. So the pattern is valid, but the engine does not support it,
    // for example more than 1,000 repetitions.
    return { fault: `unsupported: ${error instanceof Error ? reasonOf(error) : 'this pattern'}` };
  }
}

const reasonOf = (error: Error): string => error.message.replace(/^error parsing regexp: /, '').replace(/: `.*$/s, '');

/** Pattern compiler over an engine with run time linear in the text. */
export function createPatternCompiler(): PatternCompiler {
  const cache = createWeightedCache<Compiled>(MAX_CACHED, () => 1);
  return { compile: (source) => cache.get(source, () => compile(source)) };
}
