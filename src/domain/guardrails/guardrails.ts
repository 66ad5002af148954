import type { Authored } from '../row-store.ts';
import type { GuardrailDefinition, GuardrailDirectory } from './definition.ts';
import type { GuardrailDraft, GuardrailPatch } from './stored-guardrail.ts';

/**
 * The guardrails of the configuration file and the stored ones. In `definitions`, references of params to variables are
 * resolved. A stored guardrail that cannot be decrypted is a definition of the kind `UNREADABLE_KIND`.
 */
export interface Guardrails extends GuardrailDirectory {
  /** Guardrails as configured, those of the file first. References to variables in their params are not resolved. */
  list(): readonly GuardrailDefinition[];
  /** Stores a guardrail; it runs when this resolves. Throws Conflict when its id or name is taken, and InvalidInput. */
  add(draft: GuardrailDraft & { readonly id: string }, by: Authored): Promise<GuardrailDefinition>;
  /** Changes a stored guardrail. Null when none has the id. Throws Conflict and InvalidInput. */
  change(id: string, patch: GuardrailPatch, by: Authored): Promise<GuardrailDefinition | null>;
  /** Removes a stored guardrail. Null when none has the id. */
  remove(id: string): Promise<GuardrailDefinition | null>;
  /**
   * Sets the check for settings that only some kinds have. `add` and `change` then refuse a guardrail for which
   * `faultOf` returns a fault.
   */
  refuseFaulty(faultOf: (definition: GuardrailDefinition) => string | null): void;
  /** Replaces the guardrails of the configuration file. */
  configure(definitions: readonly GuardrailDefinition[]): void;
  /** Resolves references to environment variables again, after a variable changed. */
  resolve(): void;
  /** Reads the stored guardrails again, for changes by other processes. */
  refresh(): Promise<void>;
}

/** Kind of a stored guardrail whose params were encrypted with another salt key. Nothing of this kind runs. */
export const UNREADABLE_KIND = 'unreadable';

/** Returns params in which references to variables, `os.environ/NAME`, are replaced by the values of the variables. */
export type ParamReader = (params: GuardrailDefinition['params']) => GuardrailDefinition['params'];
