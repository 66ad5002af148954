/** A further name of a model. */
export interface ModelAlias {
  readonly model: string;
  /** Whether lists of models leave the alias out. */
  readonly hidden: boolean;
}

/** Configured aliases by name. An alias takes precedence over a model with the same name. */
export type ModelAliases = ReadonlyMap<string, ModelAlias>;

export const NO_MODEL_ALIASES: ModelAliases = new Map();

/** The model that a name stands for: that of an alias, else the name itself. Aliases of aliases are not followed. */
export const modelNamed = (aliases: ModelAliases, name: string): string => aliases.get(name)?.model ?? name;
