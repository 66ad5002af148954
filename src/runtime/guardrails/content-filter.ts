import { readFileSync, statSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import {
  contentFilter,
  keywordFinder,
  type PatternRule,
  type WordRule,
} from '../../domain/guardrails/kinds/content-filter.ts';
import { prebuiltFinder, SECRET_PATTERNS } from '../../domain/guardrails/kinds/prebuilt-patterns.ts';
import { createPatternFinder } from './pattern-finder.ts';
import { GuardrailFault, readParams } from './params.ts';

const action = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(['BLOCK', 'MASK']));

const word = z.object({
  keyword: z.string().min(1),
  action: action.default('BLOCK'),
  description: z.string().nullish(),
});

const pattern = z.object({
  pattern_type: z.enum(['prebuilt', 'regex']),
  pattern_name: z.string().nullish(),
  pattern: z.string().min(1).nullish(),
  name: z.string().nullish(),
  action: action.default('BLOCK'),
});

const MAX_BLOCKED_WORDS = 10_000;

const words = z.array(word).max(MAX_BLOCKED_WORDS);

const settings = z.looseObject({
  patterns: z.array(pattern).max(1_000).nullish(),
  blocked_words: words.nullish(),
  blocked_words_file: z.string().min(1).nullish(),
  pattern_redaction_format: z.string().nullish(),
  keyword_redaction_tag: z.string().nullish(),
  categories: z.array(z.unknown()).nullish(),
});

/** Placeholder in `pattern_redaction_format`. */
const NAME_PLACEHOLDER = '{pattern_name}';

/** The content filter: patterns and words that block a call or are masked. Throws GuardrailFault. */
export function createContentFilter(params: unknown): Guardrail {
  const read = readParams(settings, params);
  if ((read.categories ?? []).length > 0)
    throw new GuardrailFault('categories: lists of categories are not supported; use blocked_words and patterns');
  const tag = read.keyword_redaction_tag ?? '[KEYWORD_REDACTED]';
  const format = read.pattern_redaction_format ?? `[${NAME_PLACEHOLDER}_REDACTED]`;
  const file = read.blocked_words_file ?? null;
  const listed = [...(read.blocked_words ?? []), ...(file === null ? [] : wordsIn(file))];
  return contentFilter({
    words: listed.map((one) => wordRule(one, tag)),
    patterns: (read.patterns ?? []).map((one, index) => patternRule(one, index, format)),
  });
}

const wordRule = ({ keyword, action: what, description }: z.output<typeof word>, tag: string): WordRule => ({
  keyword,
  description: description ?? null,
  action: what,
  replacement: tag,
  find: keywordFinder(keyword),
});

function patternRule(one: z.output<typeof pattern>, index: number, format: string): PatternRule {
  const name = one.name ?? one.pattern_name ?? `custom_pattern_${index + 1}`;
  return {
    name,
    action: one.action,
    replacement: format.replaceAll(NAME_PLACEHOLDER, name.toUpperCase()),
    find: finderOf(one),
  };
}

function finderOf({ pattern_type: type, pattern_name: name, pattern: source }: z.output<typeof pattern>) {
  if (type === 'regex') {
    if (!source) throw new GuardrailFault('patterns: a regex needs a pattern');
    return createPatternFinder(source);
  }
  if (!name) throw new GuardrailFault('patterns: a prebuilt pattern needs a pattern_name');
  const known = prebuiltFinder(name);
  if (known === null) throw new GuardrailFault(`patterns: no prebuilt pattern has the name ${JSON.stringify(name)}`);
  return known;
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Words of a YAML file with a list `blocked_words`. Throws GuardrailFault. */
function wordsIn(path: string): z.output<typeof words> {
  let content: unknown;
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new GuardrailFault('blocked_words_file: the file is too large');
    content = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof GuardrailFault) throw error;
    throw new GuardrailFault(`blocked_words_file: ${path} cannot be read as YAML`);
  }
  return readParams(z.looseObject({ blocked_words: words }), content).blocked_words;
}

const secretSettings = z.looseObject({
  detect_secrets_config: z.looseObject({}).nullish(),
  keyword_redaction_tag: z.string().nullish(),
});

/**
 * Masks secrets: keys and tokens of known vendors, private keys, and values after names such as `api_key:` or
 * `auth_token=`.
 */
export function createSecretFilter(params: unknown): Guardrail {
  const replacement = readParams(secretSettings, params).keyword_redaction_tag ?? '[REDACTED]';
  const patterns = SECRET_PATTERNS.flatMap((name): PatternRule[] => {
    const find = prebuiltFinder(name);
    return find === null ? [] : [{ name, action: 'MASK', replacement, find }];
  });
  return contentFilter({ words: [], patterns });
}
