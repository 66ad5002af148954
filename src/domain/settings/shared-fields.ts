import { InvalidInput } from '../errors.ts';

/** A setting of `litellm_settings` that is edited together with the general settings. */
export interface SharedField {
  readonly type: 'Float' | 'Boolean' | 'Select' | 'Dollar';
  readonly description: string;
  /** Value after a reset. */
  readonly defaultValue: number | boolean | null;
  readonly options: readonly string[] | null;
  /** Part of the settings page. */
  readonly tab: string | null;
  /** Completes `<name> must be …`. */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

export const LITELLM_SETTINGS = 'litellm_settings';

const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const flag = (description: string, tab: string | null = null): SharedField => ({
  type: 'Boolean',
  description,
  defaultValue: false,
  options: null,
  tab,
  expected: 'true or false',
  accepts: isFlag,
});

/** In the order of `/config/list`. */
export const SHARED_FIELDS: Readonly<Record<string, SharedField>> = {
  budget_exceeded_throttle_percentage: {
    type: 'Float',
    description: 'Share of its rate limits that a key keeps when its budget is used up. Empty refuses its calls.',
    defaultValue: null,
    options: null,
    tab: null,
    expected: 'a number in (0, 1] or empty',
    accepts: (value) => typeof value === 'number' && value > 0 && value <= 1,
  },
  enable_anthropic_prompt_caching: flag(
    'Marks the stable part of prompts for the cache of Claude models. Not in force yet.',
    'prompt_caching',
  ),
  anthropic_prompt_caching_ttl: {
    type: 'Select',
    description: 'How long marked prompts are cached. Empty takes the default of the vendor. Not in force yet.',
    defaultValue: null,
    options: ['5m', '1h'],
    tab: 'prompt_caching',
    expected: 'one of: 5m, 1h, or empty',
    accepts: (value) => value === '5m' || value === '1h',
  },
  openai_system_messages_first: flag(
    'Moves system messages to the front of a conversation. Not in force yet.',
    'prompt_caching',
  ),
  budget_rollover: flag('Carries spend beyond a budget into its next window. Not in force yet.'),
  max_ui_session_budget: {
    type: 'Dollar',
    description: 'Budget of one session of the dashboard, in USD. Not in force yet.',
    defaultValue: 1,
    options: null,
    tab: null,
    expected: 'a positive dollar amount or empty',
    accepts: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
  },
};

/** A setting by its name, which a caller chose; undefined for an unknown name. */
export const sharedFieldOf = (name: string): SharedField | undefined =>
  Object.hasOwn(SHARED_FIELDS, name) ? SHARED_FIELDS[name] : undefined;

/** The value to store; the default for an empty one. Throws InvalidInput. */
export function sharedValue(name: string, field: SharedField, value: unknown): unknown {
  if (value === null || value === '') return field.defaultValue;
  if (field.accepts(value)) return value;
  throw new InvalidInput(`${name} must be ${field.expected}.`, [], { field: 'setting' });
}
