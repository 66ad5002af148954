/** A model name of an IDE, split into the model and its settings. */
export interface IdeModel {
  readonly model: string;
  /** Reasoning effort; null where the name has none. */
  readonly effort: string | null;
}

const FAST = /-fast$/;
const THINKING = /-thinking-(none|minimal|low|medium|high|xhigh|max)$/;

/**
 * Splits a model name of an IDE. `gpt-5-thinking-high-fast` is the model `gpt-5` with high reasoning effort; `-fast` is
 * ignored. A name that is configured, with or without `-fast`, is that model without an effort.
 */
export function ideModelOf(name: string, isConfigured: (model: string) => boolean): IdeModel {
  if (isConfigured(name)) return { model: name, effort: null };
  const withoutFast = name.replace(FAST, '');
  if (withoutFast !== name && isConfigured(withoutFast)) return { model: withoutFast, effort: null };
  const effort = THINKING.exec(withoutFast)?.[1] ?? null;
  return { model: withoutFast.replace(THINKING, ''), effort };
}
