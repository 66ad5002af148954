import type { GuardrailDefinition, GuardrailDirectory } from './definition.ts';

/** All guardrails: those of the configuration file, and the stored ones. */
export interface Guardrails extends GuardrailDirectory {
  /** Guardrails as configured, those of the file first: references to variables stand in their params. */
  list(): readonly GuardrailDefinition[];
  /** Replaces the guardrails of the configuration file. */
  configure(definitions: readonly GuardrailDefinition[]): void;
}

/** Params with the values of the variables that they refer to as `os.environ/NAME`. */
export type ParamReader = (params: GuardrailDefinition['params']) => GuardrailDefinition['params'];
