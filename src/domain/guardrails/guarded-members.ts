import { isJsonObject } from '../json-object.ts';
import { sameValue } from '../catalog/same-value.ts';
import { InvalidInput } from '../errors.ts';
import type { Policy } from '../policies/policy.ts';
import type { GuardrailDefinition } from './definition.ts';
import { GUARDRAIL_MEMBERS, type Metadata } from './key-guardrails.ts';

/** Members of the metadata of a team that give or take rights. Only proxy administrators change them. */
const RIGHTS = ['allow_team_guardrail_config', 'guardrails_modify'] as const;
const GUARDED: readonly string[] = [...GUARDRAIL_MEMBERS, ...RIGHTS];

/** Changes of metadata: a replacement of the whole, and changes of single members. */
export interface MetadataPatch {
  readonly metadata?: Metadata;
  readonly metadataMembers?: Metadata;
}

const sentIn = ({ metadata = {}, metadataMembers = {} }: MetadataPatch): Metadata => ({
  ...metadata,
  ...metadataMembers,
});

/**
 * Whether a value means the same as an absent member: false, an empty list or an empty object. For `guardrails_modify`,
 * false has an effect, because its default is true.
 */
const hasNoEffect = (name: string, value: unknown): boolean =>
  (value === false && name !== 'guardrails_modify') ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** A value for comparison: values that mean the same as an absent member become null. */
const comparable = (name: string, value: unknown): unknown => (hasNoEffect(name, value) ? null : (value ?? null));

/** Members about guardrails that a patch changes. */
export function guardedChanges(before: Metadata, patch: MetadataPatch): readonly string[] {
  const sent = sentIn(patch);
  return GUARDED.filter(
    (name) => Object.hasOwn(sent, name) && !sameValue(comparable(name, sent[name]), comparable(name, before[name])),
  );
}

/**
 * Whether a change of these members of a team's metadata changes the rights of the team. `guardrails` usually has
 * names. As an object, before or after the change, it has the right of the team to change guardrails.
 */
export function changesRights(before: Metadata, patch: MetadataPatch, changedNames: readonly string[]): boolean {
  const { guardrails: sent } = sentIn(patch);
  const concernsRight = isJsonObject(before['guardrails']) || (isJsonObject(sent) && !hasNoEffect('guardrails', sent));
  return changedNames.some(
    (name) => RIGHTS.some((right) => right === name) || (name === 'guardrails' && concernsRight),
  );
}

/** A patch that does not remove members about guardrails: `metadata` has the stored ones that the patch leaves out. */
export function withKeptGuardrails<Patch extends MetadataPatch>(before: Metadata, patch: Patch): Patch {
  if (patch.metadata === undefined) return patch;
  const keptMembers = Object.entries(before).filter(([name]) => GUARDED.includes(name));
  return { ...patch, metadata: { ...Object.fromEntries(keptMembers), ...patch.metadata } };
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

/**
 * Throws InvalidInput for members about guardrails that would have no effect: wrong types, and names of guardrails that
 * do not exist. In place of names, a team may have an object with its right to change guardrails.
 */
export function assertGuardrails(
  definitions: readonly GuardrailDefinition[],
  patch: MetadataPatch,
  { ofTeam = false }: { readonly ofTeam?: boolean } = {},
): void {
  const sent = sentIn(patch);
  for (const field of ['guardrails', 'opted_out_global_guardrails'] as const) {
    const names = sent[field] ?? [];
    if (field === 'guardrails' && ofTeam && isJsonObject(names)) continue;
    if (!isList(names)) throw new InvalidInput(`${field} must be a list of names of guardrails.`, [], { field });
    const unknown = names.find((name) => definitions.every((one) => one.name !== name));
    if (unknown !== undefined)
      throw new InvalidInput(`The guardrail '${unknown.slice(0, 256)}' does not exist.`, [], { field });
  }
  const field = 'disable_global_guardrails';
  if (typeof (sent[field] ?? false) !== 'boolean') throw new InvalidInput(`${field} must be a boolean.`, [], { field });
}

/**
 * Throws InvalidInput for policies that are no list of names, and for a policy that does not exist in any version. Such
 * a policy would refuse each call of its key.
 */
export function assertPolicies(policies: () => readonly Pick<Policy, 'name'>[], patch: MetadataPatch): void {
  const field = 'policies';
  const names = sentIn(patch)[field] ?? [];
  if (!isList(names)) throw new InvalidInput('policies must be a list of names of policies.', [], { field });
  if (names.length === 0) return;
  const known = new Set(policies().map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new InvalidInput(`The policy '${unknown.slice(0, 256)}' does not exist.`, [], { field });
}
