import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';
import { allowsModel, accessGroupsFor, mayCall, modelLists, type VirtualKey } from '../keys/virtual-key.ts';
import { type ModelAliases, modelNamed, NO_MODEL_ALIASES } from '../routing/model-aliases.ts';
import { catalogEntryFor } from './catalog-entry.ts';
import { deploymentsFor } from './team-models.ts';

/** A model name that requests can use, with its catalog entry. */
export interface NamedModel {
  readonly name: string;
  readonly entry: CatalogEntry | null;
}

const isWildcard = (name: string): boolean => name.endsWith('*');

/** Whether `group`, a public name or a wildcard, matches a name. */
export const matchesGroup = (group: string, name: string): boolean =>
  isWildcard(group) ? name.startsWith(group.slice(0, -1)) : group === name;

/** Whether a key may call a public name or, for a wildcard, at least one of the names that it matches. */
export function mayCallSome(key: VirtualKey | null, group: string): boolean {
  if (key === null) return true;
  const accessGroups = accessGroupsFor(key, group);
  return modelLists(key, group).every(
    (models) => allowsModel(models, group, accessGroups) || models.some((name) => matchesGroup(group, name)),
  );
}

/** The catalog has a row for each image size, e.g. `1024-x-1024/dall-e-2`. Such rows are prices, not models. */
const SIZE = /(^|\/)\d+-x-\d+\//;

/** The models of the catalog that a wildcard matches. Only models of the deployment's provider are considered. */
function expandWildcard(
  { modelGroup, provider, upstreamModel }: Deployment,
  catalog: CatalogSnapshot,
): readonly ExpandedName[] {
  const [before = '', after] = upstreamModel.split('*', 2);
  if (after === undefined) return [];
  const providerPrefix = `${provider}/`;
  return catalog.entries.flatMap((entry): readonly ExpandedName[] => {
    if (entry.provider !== provider || SIZE.test(entry.id)) return [];
    const upstream = entry.id.startsWith(providerPrefix) ? entry.id.slice(providerPrefix.length) : entry.id;
    if (upstream.length <= before.length + after.length) return [];
    if (!upstream.startsWith(before) || !upstream.endsWith(after)) return [];
    const matched = upstream.slice(before.length, upstream.length - after.length);
    return [{ name: modelGroup.slice(0, -1) + matched, entry, upstreamModel: upstream }];
  });
}

/** A name that a wildcard matches, with the upstream's name of the model. */
interface ExpandedName extends NamedModel {
  readonly upstreamModel: string;
}

/** The names that a wildcard matches and a key may call; none for a deployment without a wildcard. */
export const expandedNamesFor = (
  deployment: Deployment,
  catalog: CatalogSnapshot,
  key: VirtualKey | null,
): readonly ExpandedName[] =>
  isWildcard(deployment.modelGroup) ? expandWildcard(deployment, catalog).filter(({ name }) => mayCall(key, name)) : [];

/**
 * The distinct names that a key may call, in the order of the deployments, and then the aliases that are not hidden. A
 * wildcard is expanded to the matching names in the key's model list and in the catalog. The wildcard itself is listed
 * when no name matches, or with `withWildcards`.
 */
export function namedModels(
  deployments: readonly Deployment[],
  catalog: CatalogSnapshot,
  {
    key,
    withWildcards,
    team = key,
    aliases = NO_MODEL_ALIASES,
  }: {
    readonly key: VirtualKey | null;
    readonly withWildcards: boolean;
    /** Team whose names are listed, where it is not the team of the key. */
    readonly team?: Pick<VirtualKey, 'teamId'> | null;
    readonly aliases?: ModelAliases;
  },
): readonly NamedModel[] {
  const named = new Map<string, NamedModel>();
  const add = (model: NamedModel): void => {
    if (!named.has(model.name)) named.set(model.name, model);
  };
  const selectable = deploymentsFor(team, deployments);
  for (const deployment of selectable) {
    const { modelGroup } = deployment;
    const itself = { name: modelGroup, entry: catalogEntryFor(deployment, catalog) };
    if (!isWildcard(modelGroup)) {
      if (mayCall(key, modelGroup)) add(itself);
      continue;
    }
    const listed = [
      ...(key?.models ?? [])
        .filter((name) => !isWildcard(name) && matchesGroup(modelGroup, name))
        .map((name) => ({ name, entry: catalog.find(name) })),
      ...expandWildcard(deployment, catalog).filter(({ name }) => mayCall(key, name)),
    ];
    if ((withWildcards || listed.length === 0) && mayCallSome(key, modelGroup)) add(itself);
    for (const model of listed) add(model);
  }
  for (const [name, { model, hidden }] of aliases) {
    const found = hidden || !mayCall(key, name) ? undefined : deploymentOf(model, selectable);
    if (found !== undefined) add({ name, entry: entryOf(model, found, catalog) });
  }
  return [...named.values()];
}

/** The first deployment with a public name, else of a wildcard that matches it. */
const deploymentOf = (name: string, selectable: readonly Deployment[]): Deployment | undefined =>
  selectable.find(({ modelGroup }) => modelGroup === name) ??
  selectable.find(({ modelGroup }) => matchesGroup(modelGroup, name));

const entryOf = (name: string, found: Deployment, catalog: CatalogSnapshot): CatalogEntry | null =>
  found.modelGroup === name ? catalogEntryFor(found, catalog) : catalog.find(name);

/** The model with this name, also when `namedModels` does not list it. Null for a model that the key may not call. */
export function namedModel(
  deployments: readonly Deployment[],
  catalog: CatalogSnapshot,
  {
    key,
    name,
    aliases = NO_MODEL_ALIASES,
  }: { readonly key: VirtualKey | null; readonly name: string; readonly aliases?: ModelAliases },
): NamedModel | null {
  const model = modelNamed(aliases, name);
  const found = deploymentOf(model, deploymentsFor(key, deployments));
  if (found === undefined) return null;
  const isAllowed = found.modelGroup === name ? mayCallSome(key, name) : mayCall(key, name);
  return isAllowed ? { name, entry: entryOf(model, found, catalog) } : null;
}
