import type { JsonObject } from '../json-object.ts';
import { type CallLabels, withTags } from './call-labels.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';

const NO_TAGS: readonly string[] = Object.freeze([]);

/** The tags in the metadata of a key or a team. */
export function tagsOfMetadata(metadata: JsonObject | undefined): readonly string[] {
  const tags = metadata?.['tags'];
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string' && tag !== '') : NO_TAGS;
}

/** Tags that a key, its team and its project give to each call. */
export function tagsOfKey({ metadata, owners }: VirtualKey): readonly string[] {
  const own = tagsOfMetadata(metadata);
  if (owners === undefined) return own;
  const ofTeam = tagsOfMetadata(owners.team?.metadata);
  const ofProject = owners.project?.tags ?? NO_TAGS;
  return ofTeam.length + ofProject.length === 0 ? own : [...own, ...ofTeam, ...ofProject];
}

/** A request with the tags of its key, its team and its project. Throws InvalidInput for too many tags. */
export function withKeyTags<Request extends { readonly labels?: CallLabels }>(
  key: VirtualKey | null,
  request: Request,
): Request {
  const tags = key === null ? NO_TAGS : tagsOfKey(key);
  return tags.length === 0 ? request : { ...request, labels: withTags(request.labels, tags) };
}
