/** What a model's name says where an IDE writes settings into it. */
export interface IdeModel {
  readonly model: string;
  /** How long it may think; null where the name does not say. */
  readonly effort: string | null;
}

const FAST = /-fast$/;
const THINKING = /-thinking-(none|minimal|low|medium|high|xhigh|max)$/;

/**
 * `gpt-5-thinking-high-fast` is the model `gpt-5`, thinking long, served fast. A name that is configured as it stands is
 * that model; so is one that is when only its last setting is taken off.
 */
export function ideModelOf(name: string, isConfigured: (model: string) => boolean): IdeModel {
  if (isConfigured(name)) return { model: name, effort: null };
  const unhurried = name.replace(FAST, '');
  if (unhurried !== name && isConfigured(unhurried)) return { model: unhurried, effort: null };
  const effort = THINKING.exec(unhurried)?.[1] ?? null;
  return { model: unhurried.replace(THINKING, ''), effort };
}
