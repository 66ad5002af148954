import { RE2JS } from 're2js';
import type { Finder, TextRange } from '../../domain/guardrails/kinds/content-filter.ts';
import { GuardrailFault } from './params.ts';

/** Maximum characters of an expression. */
const MAX_CHARACTERS = 4_096;
/** Maximum instructions of a compiled expression. */
const MAX_PROGRAM_SIZE = 20_000;

/**
 * Finds the non-empty matches of a configured regular expression, ignoring case. The engine is RE2: its run time is
 * linear in the text for every expression. Throws GuardrailFault for an expression that is invalid or too large.
 */
export function createPatternFinder(source: string): Finder {
  const regex = compiled(source);
  return (text) => {
    const spans: TextRange[] = [];
    const matcher = regex.matcher(text);
    while (matcher.find()) {
      const [from, to] = [matcher.start(), matcher.end()];
      if (to > from) spans.push({ from, to });
    }
    return spans;
  };
}

function compiled(source: string): RE2JS {
  if (source.length > MAX_CHARACTERS) throw new GuardrailFault(`a pattern has more than ${MAX_CHARACTERS} characters`);
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch {
    throw new GuardrailFault(`the pattern ${JSON.stringify(source.slice(0, 80))} is not a valid RE2 expression`);
  }
  if (regex.programSize() > MAX_PROGRAM_SIZE) throw new GuardrailFault('a pattern is too large');
  return regex;
}
