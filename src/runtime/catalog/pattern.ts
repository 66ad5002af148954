import { RE2JS } from 're2js';
import type { Pattern, PatternCompiler } from '../../domain/catalog/catalog.ts';
import { keepRecent } from '../../domain/catalog/recent.ts';
import { translatePattern } from './pattern-syntax.ts';

/** Longest pattern that is read, in characters, and largest program that is run. */
const MOST_CHARACTERS = 512;
const MOST_STEPS = 5_000;
/** Compiled patterns kept; a caller pages through a list with the same one. */
const MOST_KEPT = 64;

type Compiled = ReturnType<PatternCompiler['compile']>;

/** Nothing in it means anything but itself, so that a plain search will do. */
const LITERAL = /^[\w /:@-]*$/;

function literalPattern(source: string): Pattern {
  const part = source.toLowerCase();
  return { occursIn: (text) => text.toLowerCase().includes(part) };
}

function compile(source: string): Compiled {
  if (source.length > MOST_CHARACTERS)
    return { fault: `unsupported: pattern longer than ${MOST_CHARACTERS} characters` };
  if (LITERAL.test(source)) return { pattern: literalPattern(source) };
  const translated = translatePattern(source);
  if ('fault' in translated) return translated;
  try {
    const engine = RE2JS.compile(translated.code, RE2JS.CASE_INSENSITIVE);
    if (engine.programSize() > MOST_STEPS) return { fault: 'unsupported: pattern too large' };
    return { pattern: { occursIn: (text) => engine.test(text) } };
  } catch (error) {
    // What Python would refuse was found before; what is left is beyond the engine, such as a count over 1,000.
    return { fault: `unsupported: ${error instanceof Error ? reasonOf(error) : 'this pattern'}` };
  }
}

const reasonOf = (error: Error): string => error.message.replace(/^error parsing regexp: /, '').replace(/: `.*$/s, '');

/** Patterns run on an engine whose time grows with the text, never with what the pattern could have meant. */
export function createPatternCompiler(): PatternCompiler {
  const kept = keepRecent<Compiled>(MOST_KEPT, () => 1);
  return { compile: (source) => kept.get(source, () => compile(source)) };
}
