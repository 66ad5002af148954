import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';
import type { KnownDeployment } from './deployment-source.ts';
import { mayCallSome, expandedNamesFor } from './model-names.ts';
import { catalogEntryFor } from './catalog-entry.ts';
import { deploymentsFor } from './team-models.ts';
import type { StoredDeployment } from './stored-deployment.ts';

/** A deployment with one of its public names. */
export interface ModelInfo {
  readonly name: string;
  readonly deployment: Deployment;
  readonly entry: CatalogEntry | null;
  /** Its row, where it is stored; null for one of the configuration. */
  readonly stored: StoredDeployment | null;
}

/** Teams whose models are listed beside those of the key's own team. */
export type OtherTeams = readonly string[] | 'all';

/**
 * The deployments that a key can select and those of `teams`, in the order of the input. The model lists of the key
 * must allow them. A wildcard is expanded to the catalog's models of its provider that the key may call. When the
 * catalog has no such model, the wildcard itself is listed, if the key may call a name that it matches.
 */
export function modelInfos(
  deployments: readonly KnownDeployment[],
  catalog: CatalogSnapshot,
  key: VirtualKey | null,
  teams: OtherTeams = [],
): readonly ModelInfo[] {
  const selectable = new Set(
    deploymentsFor(
      key,
      deployments.map(({ deployment }) => deployment),
    ),
  );
  return deployments.flatMap(({ deployment, stored }): readonly ModelInfo[] => {
    const { modelGroup, teamId } = deployment;
    const isOfListedTeam = teams === 'all' || (teamId !== undefined && teams.includes(teamId));
    if (!isOfListedTeam && !selectable.has(deployment)) return [];
    const expanded = expandedNamesFor(deployment, catalog, key);
    if (expanded.length > 0)
      return expanded.map(({ name, entry, upstreamModel }) => ({
        name,
        entry,
        stored,
        deployment: { ...deployment, upstreamModel },
      }));
    if (!mayCallSome(key, modelGroup)) return [];
    return [{ name: modelGroup, deployment, stored, entry: catalogEntryFor(deployment, catalog) }];
  });
}

/** Values that lists of models are sorted by. */
export const MODEL_SORTS = ['model_name', 'created_at', 'updated_at', 'costs', 'status'] as const;
export type ModelSort = (typeof MODEL_SORTS)[number];
