import { Conflict, InvalidInput, NotFound } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import { type Pipeline, pipelineOf } from './pipeline.ts';

/** `production`: in force. At most one version of a policy is. */
export const VERSION_STATUSES = ['draft', 'published', 'production'] as const;
export type VersionStatus = (typeof VERSION_STATUSES)[number];

/** Which guardrails a policy selects. */
export interface PolicyRules {
  readonly description: string | null;
  /** Name of the policy whose guardrails it inherits; null for none. */
  readonly inherit: string | null;
  readonly guardrailsAdd: readonly string[];
  /** Inherited guardrails that it leaves out. */
  readonly guardrailsRemove: readonly string[];
  /** Models for which it applies: `{model: name, RE2 expression, or a list of them}`; null or empty for all. */
  readonly condition: JsonObject | null;
  readonly pipeline: Pipeline | null;
}

/** One version of a policy: a named selection of guardrails. */
export interface Policy extends PolicyRules {
  /** Id of the version. For a policy of the configuration file, its name. */
  readonly id: string;
  readonly name: string;
  /** From 1. */
  readonly version: number;
  readonly status: VersionStatus;
  /** Id of the version that it was copied from; null for the first one. */
  readonly parentId: string | null;
  readonly publishedAt: Date | null;
  /** When it came in force last. */
  readonly productionAt: Date | null;
  /** Whether the configuration file has it. Such a policy cannot be changed at run time. */
  readonly isFromConfig: boolean;
  /** Null for a policy of the configuration file. */
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
  readonly createdBy: string | null;
  readonly updatedBy: string | null;
}

/** A version as callers see it. */
export interface ShownPolicy extends Policy {
  /** Whether no version of the policy has a higher number. */
  readonly isLatest: boolean;
}

/** Versions as callers see them. `all` has every version of their policies. */
export function shownAmong(all: readonly Policy[], versions: readonly Policy[]): readonly ShownPolicy[] {
  const latest = new Map<string, number>();
  for (const { name, version } of all) latest.set(name, Math.max(version, latest.get(name) ?? 0));
  return versions.map((one) => ({ ...one, isLatest: one.version >= (latest.get(one.name) ?? 0) }));
}

/** A version as the database has it. */
export type StoredPolicy = Omit<Policy, 'isFromConfig' | keyof Stamps> & Stamps;
export type PolicyStore = RowStore<StoredPolicy, null>;

/** A policy to create. */
export type PolicyDraft = PolicyRules & Pick<Policy, 'name'>;

/** Changes to a draft version. An absent member is unchanged. */
export type PolicyPatch = Partial<PolicyRules>;

const MAX_CHARACTERS = 256;
const MAX_DESCRIPTION = 4_096;
const MAX_NAMES = 100;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;
const NUL_OR_UNPAIRED_SURROGATE = /[\0\p{Cs}]/u;

/** Throws InvalidInput for a name that is blank, too long, or has characters that headers and rows cannot have. */
export function assertName(member: string, name: string): void {
  if (name.trim() === '' || name.length > MAX_CHARACTERS || CONTROL_OR_UNPAIRED_SURROGATE.test(name))
    throw new InvalidInput(
      `${member} must have 1 to ${MAX_CHARACTERS} characters, no control character and no unpaired surrogate`,
    );
}

/** Throws InvalidInput for a list with too many names, or with a wrong one. */
export function assertNames(member: string, names: readonly string[]): void {
  if (names.length > MAX_NAMES) throw new InvalidInput(`${member} must have at most ${MAX_NAMES} entries`);
  for (const name of names) assertName(member, name);
}

/** The models of a condition: names or expressions. Null: all models. Throws InvalidInput. */
export function modelsIn(condition: JsonObject | null): readonly string[] | null {
  if (condition === null) return null;
  const other = Object.keys(condition).find((member) => member !== 'model');
  if (other !== undefined) throw new InvalidInput(`condition.${other.slice(0, 80)} is not supported: only model is`);
  const model = condition['model'] ?? null;
  if (model === null) return null;
  const models: readonly unknown[] = Array.isArray(model) ? model : [model];
  if (!models.every((one) => typeof one === 'string'))
    throw new InvalidInput('condition.model must be a text or a list of texts');
  assertNames('condition.model', models);
  return models.length === 0 ? null : models;
}

/** Returns the rules if they can be stored. Throws InvalidInput. */
export function validRules<Rules extends PolicyRules>(rules: Rules): Rules {
  const { description, inherit, guardrailsAdd, guardrailsRemove, condition, pipeline } = rules;
  if (inherit !== null) assertName('inherit', inherit);
  if (description !== null && (description.length > MAX_DESCRIPTION || NUL_OR_UNPAIRED_SURROGATE.test(description)))
    throw new InvalidInput(`description must have at most ${MAX_DESCRIPTION} characters and no NUL character`);
  assertNames('guardrails_add', guardrailsAdd);
  assertNames('guardrails_remove', guardrailsRemove);
  modelsIn(condition);
  pipelineOf(pipeline);
  for (const { guardrail } of pipeline?.steps ?? []) assertName('pipeline.steps.guardrail', guardrail);
  return rules;
}

const textsIn = (value: unknown, member: string): readonly string[] => {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw new InvalidInput(`${member} must be a list of texts`);
  return value;
};

const textOrNull = (value: unknown, member: string): string | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') throw new InvalidInput(`${member} must be a text`);
  return value;
};

const MEMBERS = new Set(['inherit', 'description', 'guardrails', 'condition', 'pipeline']);

/** The rules of an entry of the configuration file, or of a request to check one. Throws InvalidInput. */
export function rulesOfEntry(entry: unknown): PolicyRules {
  if (!isJsonObject(entry)) throw new InvalidInput('must be an object');
  const other = Object.keys(entry).find((member) => !MEMBERS.has(member));
  if (other !== undefined) throw new InvalidInput(`${other.slice(0, 80)} is not a member of a policy`);
  const { guardrails = null, condition = null } = entry;
  if (guardrails !== null && !isJsonObject(guardrails)) throw new InvalidInput('guardrails must be an object');
  if (condition !== null && !isJsonObject(condition)) throw new InvalidInput('condition must be an object');
  return validRules({
    description: textOrNull(entry['description'], 'description'),
    inherit: textOrNull(entry['inherit'], 'inherit'),
    guardrailsAdd: textsIn(guardrails?.['add'], 'guardrails.add'),
    guardrailsRemove: textsIn(guardrails?.['remove'], 'guardrails.remove'),
    condition,
    pipeline: pipelineOf(entry['pipeline']),
  });
}

export const policyExists = (name: string): Conflict => new Conflict(`Policy with name '${name}' already exists`);
export const unknownPolicyId = (id: string): NotFound => new NotFound('policy', id, `Policy with ID ${id} not found`);
export const unknownPolicyName = (name: string): NotFound => new NotFound('policy', name, `Policy '${name}' not found`);

/** The version of a policy that is in force; undefined without one. The last one that came in force wins. */
export const inForceAmong = (versions: readonly Policy[]): Policy | undefined =>
  versions
    .filter(({ status }) => status === 'production')
    .toSorted((one, other) => (other.productionAt?.getTime() ?? 0) - (one.productionAt?.getTime() ?? 0))[0];

/** The policies in force by name. */
export function policiesInForce(all: readonly Policy[]): ReadonlyMap<string, Policy> {
  const inForce = new Map<string, Policy>();
  for (const [name, versions] of Map.groupBy(all, (one) => one.name)) {
    const found = inForceAmong(versions);
    if (found !== undefined) inForce.set(name, found);
  }
  return inForce;
}

/** Maximum number of policies that inherit one from another. */
const MAX_CHAIN = 20;

/**
 * A policy and those that it inherits from, the most general first. Returns the fault as text when one is missing, in a
 * cycle or too far away.
 */
export function chainOf(policy: Policy, inForce: ReadonlyMap<string, Policy>): readonly Policy[] | string {
  const chain: Policy[] = [policy];
  for (let next = policy.inherit; next !== null; next = chain[0]?.inherit ?? null) {
    if (chain.some(({ name }) => name === next)) return `the inheritance of '${policy.name}' has a cycle at '${next}'`;
    const parent = inForce.get(next);
    if (parent === undefined) return `the parent policy '${next}' of '${chain[0]?.name ?? ''}' is not in force`;
    if (chain.length === MAX_CHAIN) return `'${policy.name}' inherits from more than ${MAX_CHAIN - 1} policies`;
    chain.unshift(parent);
  }
  return chain;
}
