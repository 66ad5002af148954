/**
 * Variables for references. Those of the configuration file take precedence over those of the process, and both over
 * stored ones.
 */
export interface Environment {
  /** All variables by name. The object is updated in place when stored variables change. */
  readonly variables: Readonly<NodeJS.ProcessEnv>;
  /** Stored variables that neither the file nor the process sets. They may be secrets. */
  stored(): Readonly<Record<string, string>>;
  /** Replaces the stored variables. Returns whether `variables` has changed. */
  store(values: Readonly<Record<string, unknown>>): boolean;
}

/** `fixed` are the variables of the process and the file. An empty variable counts as not set. */
export function createEnvironment(fixed: NodeJS.ProcessEnv): Environment {
  const variables = { ...fixed };
  let stored: Readonly<Record<string, string>> = {};
  return {
    variables,
    stored: () => stored,
    store(values) {
      const next: Record<string, string> = {};
      for (const [name, value] of Object.entries(values))
        if (typeof value === 'string' && value !== '' && (fixed[name] ?? '') === '') next[name] = value;
      const removed = Object.keys(stored).filter((name) => next[name] === undefined);
      const fresh = Object.keys(next).filter((name) => next[name] !== stored[name]);
      for (const name of removed) variables[name] = fixed[name];
      for (const name of fresh) variables[name] = next[name];
      stored = next;
      return removed.length + fresh.length > 0;
    },
  };
}
