import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';
import { mayCall, type VirtualKey } from '../keys/virtual-key.ts';
import { entryFor } from './priced-by.ts';

/** A name that can be asked for, and what the catalog knows of the model behind it. */
export interface NamedModel {
  readonly name: string;
  readonly entry: CatalogEntry | null;
}

const isWildcard = (name: string): boolean => name.endsWith('*');

/** Whether a public name, or the wildcard that it is, stands for another. */
const standsFor = (group: string, name: string): boolean =>
  isWildcard(group) ? name.startsWith(group.slice(0, -1)) : group === name;

/** Whether a key may call a public name, or anything that the wildcard it is stands for. */
export const mayCallSome = (key: VirtualKey | null, group: string): boolean =>
  mayCall(key, group) || (key?.models.some((name) => standsFor(group, name)) ?? false);

/** The catalog has a row for each size of a picture; those are prices, not models. */
const SIZE = /(^|\/)\d+-x-\d+\//;

/** What a wildcard stands for, as far as the catalog lists models of its provider. */
function filledIn({ modelGroup, provider, upstreamModel }: Deployment, catalog: CatalogSnapshot): readonly FilledIn[] {
  const [before = '', after] = upstreamModel.split('*', 2);
  if (after === undefined) return [];
  const own = `${provider}/`;
  return catalog.entries.flatMap((entry): readonly FilledIn[] => {
    if (entry.provider !== provider || SIZE.test(entry.id)) return [];
    const upstream = entry.id.startsWith(own) ? entry.id.slice(own.length) : entry.id;
    if (upstream.length <= before.length + after.length) return [];
    if (!upstream.startsWith(before) || !upstream.endsWith(after)) return [];
    const matched = upstream.slice(before.length, upstream.length - after.length);
    return [{ name: modelGroup.slice(0, -1) + matched, entry, upstreamModel: upstream }];
  });
}

/** A name that a wildcard stands for, and what its upstream calls the model. */
interface FilledIn extends NamedModel {
  readonly upstreamModel: string;
}

/** What a wildcard stands for, as far as a key may call it; nothing for a deployment that is none. */
export const standingFor = (
  deployment: Deployment,
  catalog: CatalogSnapshot,
  key: VirtualKey | null,
): readonly FilledIn[] =>
  isWildcard(deployment.modelGroup) ? filledIn(deployment, catalog).filter(({ name }) => mayCall(key, name)) : [];

/**
 * The names a key may ask for, each once, in the order of the configuration. A wildcard gives way to what it stands for: what
 * the key names, and what the catalog lists of its provider. It is named itself where that is nothing, or where it is
 * asked for.
 */
export function namedModels(
  deployments: readonly Deployment[],
  catalog: CatalogSnapshot,
  { key, withWildcards }: { readonly key: VirtualKey | null; readonly withWildcards: boolean },
): readonly NamedModel[] {
  const named = new Map<string, NamedModel>();
  const add = (model: NamedModel): void => {
    if (!named.has(model.name)) named.set(model.name, model);
  };
  for (const deployment of deployments) {
    const { modelGroup } = deployment;
    const itself = { name: modelGroup, entry: entryFor(deployment, catalog) };
    if (!isWildcard(modelGroup)) {
      if (mayCall(key, modelGroup)) add(itself);
      continue;
    }
    const listed = [
      ...(key?.models ?? [])
        .filter((name) => !isWildcard(name) && standsFor(modelGroup, name))
        .map((name) => ({ name, entry: catalog.find(name) })),
      ...filledIn(deployment, catalog).filter(({ name }) => mayCall(key, name)),
    ];
    if ((withWildcards || listed.length === 0) && mayCallSome(key, modelGroup)) add(itself);
    for (const model of listed) add(model);
  }
  return [...named.values()];
}

/** The model behind a name that a key may ask for, listed or not; null where there is none. */
export function namedModel(
  deployments: readonly Deployment[],
  catalog: CatalogSnapshot,
  { key, name }: { readonly key: VirtualKey | null; readonly name: string },
): NamedModel | null {
  const found =
    deployments.find(({ modelGroup }) => modelGroup === name) ??
    deployments.find(({ modelGroup }) => standsFor(modelGroup, name));
  if (found === undefined || !(found.modelGroup === name ? mayCallSome(key, name) : mayCall(key, name))) return null;
  return { name, entry: found.modelGroup === name ? entryFor(found, catalog) : catalog.find(name) };
}
