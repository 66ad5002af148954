import type { Guardrail, Inspection, Verdict } from '../guardrail.ts';

/** A range of a text, in UTF-16 units: `from` is inclusive, `to` exclusive. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Finds ranges in a text, sorted and without overlap. */
export type Finder = (text: string) => readonly TextRange[];

interface Rule {
  readonly find: Finder;
  readonly action: 'BLOCK' | 'MASK';
}

export interface PatternRule extends Rule {
  readonly name: string;
  /** Text that replaces a match. */
  readonly replacement: string;
}

export interface WordRule extends Rule {
  readonly keyword: string;
  readonly description: string | null;
  readonly replacement: string;
}

/** Rules in the order in which they run: words first, then patterns, as in the reference service. */
export interface FilterRules {
  readonly words: readonly WordRule[];
  readonly patterns: readonly PatternRule[];
}

/** Finds a keyword, ignoring case. The keyword must not be empty. */
export function keywordFinder(keyword: string): Finder {
  const keywordText = keyword.toLowerCase();
  return (text) => {
    const ranges: TextRange[] = [];
    const lower = text.toLowerCase();
    // A few characters change their length in lower case. The position of a match is then unknown: the whole text is
    // the match.
    const hasOtherPositions = lower.length !== text.length;
    if (hasOtherPositions) return lower.includes(keywordText) ? [{ from: 0, to: text.length }] : ranges;
    for (let at = lower.indexOf(keywordText); at !== -1; at = lower.indexOf(keywordText, at + keywordText.length))
      ranges.push({ from: at, to: at + keywordText.length });
    return ranges;
  };
}

function withReplacement(text: string, ranges: readonly TextRange[], replacement: string): string {
  let result = '';
  let from = 0;
  for (const range of ranges) {
    result += text.slice(from, range.from) + replacement;
    from = range.to;
  }
  return result + text.slice(from);
}

/** A guardrail that finds words and patterns, and blocks a call or masks what it found. */
export function contentFilter({ words, patterns }: FilterRules): Guardrail {
  const rules = [
    ...words.map((rule) => ({ ...rule, type: 'blocked_word', label: 'keyword', detail: wordDetail(rule) })),
    ...patterns.map((rule) => ({ ...rule, type: 'pattern', label: rule.name, detail: patternDetail(rule) })),
  ];

  return {
    check({ texts }: Pick<Inspection, 'texts'>): Verdict {
      const edited = texts.map(({ text }) => text);
      const masked = new Map<string, number>();
      const detections: object[] = [];
      for (const { find, action, type, label, detail, replacement } of rules) {
        for (const [index, text] of edited.entries()) {
          const ranges = find(text);
          if (ranges.length === 0) continue;
          const detection = { type, ...detail, action };
          if (action === 'BLOCK') return { kind: 'blocked', detail, report: [...detections, detection] };
          masked.set(label, (masked.get(label) ?? 0) + ranges.length);
          edited[index] = withReplacement(text, ranges, replacement);
          detections.push(detection);
        }
      }
      if (detections.length === 0) return { kind: 'passed' };
      return { kind: 'edited', texts: edited, masked: Object.fromEntries(masked), report: detections };
    },
  };
}

const wordDetail = ({ keyword, description }: WordRule) => ({
  error: `Content blocked: keyword '${keyword}' detected`,
  keyword,
  description,
});

const patternDetail = ({ name }: PatternRule) => ({
  error: `Content blocked: ${name} pattern detected`,
  pattern: name,
});
