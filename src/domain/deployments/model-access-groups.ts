import type { Deployment } from '../chat/provider.ts';
import type { KnownDeployment } from './deployment-source.ts';
import { matchesGroup } from './model-names.ts';

/** A name that stands for several models in the model list of a key or an owner. */
export interface ModelAccessGroup {
  readonly name: string;
  /** Public model names, in the order of the deployments. */
  readonly models: readonly string[];
  /** Number of its deployments. */
  readonly deployments: number;
  /** Whether the configuration has some of its deployments, which cannot be changed at run time. */
  readonly isConfigured: boolean;
}

/** Access groups by model name. */
export type AccessGroupsOf = (model: string) => readonly string[];

const NONE: readonly string[] = [];

/** Groups of a model name: those of its deployments, else of the wildcards that match it. */
export function accessGroupsOf(deployments: readonly Deployment[]): AccessGroupsOf {
  const groupsByName = new Map<string, string[]>();
  for (const { modelGroup, accessGroups = NONE } of deployments)
    if (accessGroups.length > 0)
      groupsByName.set(modelGroup, [...(groupsByName.get(modelGroup) ?? NONE), ...accessGroups]);
  if (groupsByName.size === 0) return () => NONE;
  const wildcards = [...groupsByName.keys()].filter((name) => name.endsWith('*'));
  return (model) => {
    const byExactName = groupsByName.get(model);
    if (byExactName !== undefined) return byExactName;
    if (wildcards.length === 0) return NONE;
    return wildcards.filter((name) => matchesGroup(name, model)).flatMap((name) => groupsByName.get(name) ?? NONE);
  };
}

/** All access groups, in the order of their first deployments. */
export function modelAccessGroups(known: readonly KnownDeployment[]): readonly ModelAccessGroup[] {
  const names = new Set(known.flatMap(({ deployment }) => deployment.accessGroups ?? NONE));
  return [...names].map((name) => {
    const members = known.filter(({ deployment }) => deployment.accessGroups?.includes(name) === true);
    return {
      name,
      models: [...new Set(members.map(({ deployment }) => deployment.modelGroup))],
      deployments: members.length,
      isConfigured: members.some(({ stored }) => stored === null),
    };
  });
}
