import type { Deployment } from '../../domain/chat/provider.ts';
import type { DeploymentSource } from '../../domain/deployments/deployment-source.ts';

/** Models whose deployments have settings that affect their selection. */
interface DeploymentRules {
  readonly models: ReadonlySet<string>;
  /** Whether `models` has a wildcard. If so, any model name may match one. */
  readonly hasWildcard: boolean;
}

/**
 * Creates a function that finds the models whose deployments have rules. The result is cached until the list of
 * deployments changes.
 */
export function createRuleFinder(source: Pick<DeploymentSource, 'current'>): () => DeploymentRules {
  let readList: readonly Deployment[] | null = null;
  let rules: DeploymentRules = { models: new Set(), hasWildcard: false };
  return () => {
    const current = source.current();
    if (current !== readList) {
      readList = current;
      const groups = Map.groupBy(current, ({ modelGroup }) => modelGroup);
      const models = new Set([...groups].filter(([, members]) => needsSelection(members)).map(([name]) => name));
      rules = { models, hasWildcard: [...models].some((name) => name.endsWith('*')) };
    }
    return rules;
  };
}

/** Whether settings of the deployments of a model affect the selection. One deployment needs no weights and levels. */
function needsSelection(members: readonly Deployment[]): boolean {
  return members.some(({ selection }) => {
    if (selection === undefined) return false;
    if (selection.accessWindows !== undefined || selection.tagFiltering === true) return true;
    if (selection.maxParallel !== undefined) return true;
    const { weight, rpm, tpm, order } = selection;
    return members.length > 1 && [weight, rpm, tpm, order].some((value) => value !== undefined);
  });
}
