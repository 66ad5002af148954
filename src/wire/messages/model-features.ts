/** Features of a model that change the form of a request. */
export interface ModelFeatures {
  /** How a request enables thinking: not supported, by a token budget, or by an effort. */
  readonly thinks: 'never' | 'by budget' | 'by effort';
  /** Whether the model supports schemas for answers and strict tools. */
  readonly structured: boolean;
}

const CLAUDE_BEFORE_3_7 = /claude-(?:v?2|instant|3-(?:5|opus|sonnet|haiku))/;
const CLAUDE_3_7 = /claude-3-7/;
/** Claude 4 with an optional minor version. */
const CLAUDE_4 = /claude-(?:opus|sonnet|haiku)-4(?:[-.](\d{1,2})(?!\d))?/;
const LAST_CLAUDE_4_MINOR_WITH_BUDGET = 5;
const FIRST_CLAUDE_4_MINOR_WITH_SCHEMAS = 1;

/**
 * Features of a model, by its name. Claude models that are newer than version 4 support efforts and schemas. Models of
 * other vendors with this dialect are assumed to support budgets and no schemas.
 */
export function featuresOf(model: string): ModelFeatures {
  if (CLAUDE_BEFORE_3_7.test(model)) return { thinks: 'never', structured: false };
  if (CLAUDE_3_7.test(model) || !model.includes('claude')) return { thinks: 'by budget', structured: false };
  const claude4 = CLAUDE_4.exec(model);
  if (claude4 === null) return { thinks: 'by effort', structured: true };
  const minor = Number(claude4[1] ?? 0);
  return {
    thinks: minor <= LAST_CLAUDE_4_MINOR_WITH_BUDGET ? 'by budget' : 'by effort',
    structured: minor >= FIRST_CLAUDE_4_MINOR_WITH_SCHEMAS,
  };
}
