import { RE2JS } from 're2js';
import type { Finder, Span } from '../../domain/guardrails/kinds/content-filter.ts';
import { GuardrailFault } from './params.ts';

/** Longest expression in characters, and largest compiled program. */
const MOST_CHARACTERS = 4_096;
const MOST_STEPS = 20_000;

/**
 * Finds the places of an expression of the configuration. Its engine has run time linear in the text, whatever the
 * expression is. Throws GuardrailFault for an invalid or too large one.
 */
export function createPatternFinder(source: string): Finder {
  const engine = compiled(source);
  return (text) => {
    const spans: Span[] = [];
    const matcher = engine.matcher(text);
    while (matcher.find()) {
      const [from, to] = [matcher.start(), matcher.end()];
      if (to > from) spans.push({ from, to });
    }
    return spans;
  };
}

function compiled(source: string): RE2JS {
  if (source.length > MOST_CHARACTERS)
    throw new GuardrailFault(`a pattern has more than ${MOST_CHARACTERS} characters`);
  let engine: RE2JS;
  try {
    engine = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch {
    throw new GuardrailFault(`the pattern ${JSON.stringify(source.slice(0, 80))} is no valid RE2 expression`);
  }
  if (engine.programSize() > MOST_STEPS) throw new GuardrailFault('a pattern is too large');
  return engine;
}
