/** What Anthropic's models differ in, as far as the form of a request depends on it. */
export interface ModelFeatures {
  /** How thought is asked for: not at all, by a budget of tokens, or by an effort. */
  readonly thinks: 'never' | 'by budget' | 'by effort';
  /** Whether the form of an answer and of a tool's input can be fixed by a schema. */
  readonly structured: boolean;
}

const FIRST = /claude-(?:v?2|instant|3-(?:5|opus|sonnet|haiku))/;
const THIRD = /claude-3-7/;
const FOURTH = /claude-(?:opus|sonnet|haiku)-4(?:[-.](\d{1,2})(?!\d))?/;

/**
 * The older models are a closed list; every later one asks for efforts and keeps to schemas. Models of others that answer
 * in this dialect are taken to know what it began with: budgets, and no schemas.
 */
export function featuresOf(model: string): ModelFeatures {
  if (FIRST.test(model)) return { thinks: 'never', structured: false };
  if (THIRD.test(model) || !model.includes('claude')) return { thinks: 'by budget', structured: false };
  const fourth = FOURTH.exec(model);
  if (fourth === null) return { thinks: 'by effort', structured: true };
  const minor = Number(fourth[1] ?? 0);
  return { thinks: minor <= 5 ? 'by budget' : 'by effort', structured: minor >= 1 };
}
