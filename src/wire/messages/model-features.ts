/** Features of a model that change the form of a request. */
export interface ModelFeatures {
  /** How a request enables thinking: not supported, by a token budget, or by an effort. */
  readonly thinks: 'never' | 'by budget' | 'by effort';
  /** Whether the model supports schemas for answers and strict tools. */
  readonly structured: boolean;
}

const FIRST = /claude-(?:v?2|instant|3-(?:5|opus|sonnet|haiku))/;
const THIRD = /claude-3-7/;
const FOURTH = /claude-(?:opus|sonnet|haiku)-4(?:[-.](\d{1,2})(?!\d))?/;

/**
 * Features of a model, by its name. The older models are a closed list; all later ones support efforts and schemas.
 * Models of other vendors with this dialect are assumed to support budgets and no schemas.
 */
export function featuresOf(model: string): ModelFeatures {
  if (FIRST.test(model)) return { thinks: 'never', structured: false };
  if (THIRD.test(model) || !model.includes('claude')) return { thinks: 'by budget', structured: false };
  const fourth = FOURTH.exec(model);
  if (fourth === null) return { thinks: 'by effort', structured: true };
  const minor = Number(fourth[1] ?? 0);
  return { thinks: minor <= 5 ? 'by budget' : 'by effort', structured: minor >= 1 };
}
