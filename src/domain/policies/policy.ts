import { Conflict, InvalidInput, NotFound } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import { type Pipeline, pipelineOf } from './pipeline.ts';

/** `production`: the version is in force. Each policy has at most one version in force. */
export const VERSION_STATUSES = ['draft', 'published', 'production'] as const;
export type VersionStatus = (typeof VERSION_STATUSES)[number];

/** The guardrails that a policy selects, and the calls for which it selects them. */
export interface PolicyRules {
  readonly description: string | null;
  /** Name of the parent policy, whose guardrails are inherited; null for none. */
  readonly inherit: string | null;
  readonly guardrailsAdd: readonly string[];
  /** Inherited guardrails that are left out. */
  readonly guardrailsRemove: readonly string[];
  /** `model` is a name, an RE2 expression, or a list of these. Null, and without `model`: all models. */
  readonly condition: JsonObject | null;
  readonly pipeline: Pipeline | null;
}

/** One version of a policy: a named selection of guardrails. */
export interface Policy extends PolicyRules {
  /** Id of the version. For a policy of the configuration file: the name of the policy. */
  readonly id: string;
  readonly name: string;
  /** From 1. */
  readonly version: number;
  readonly status: VersionStatus;
  /** Id of the version from which this one was copied; null for the first version. */
  readonly parentId: string | null;
  readonly publishedAt: Date | null;
  /** Time of the last change to the status `production`. */
  readonly productionAt: Date | null;
  /** Whether the policy is in the configuration file. If so, the members below are null, and run-time changes fail. */
  readonly isFromConfig: boolean;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
  readonly createdBy: string | null;
  readonly updatedBy: string | null;
}

/** A version as answers show it. */
export interface ShownPolicy extends Policy {
  /** Whether no version of the policy has a higher number. */
  readonly isLatest: boolean;
}

/** Versions as answers show them. `all` has at least all versions of the same policies. */
export function shownAmong(all: readonly Policy[], versions: readonly Policy[]): readonly ShownPolicy[] {
  const latest = new Map<string, number>();
  for (const { name, version } of all) latest.set(name, Math.max(version, latest.get(name) ?? 0));
  return versions.map((shown) => ({ ...shown, isLatest: shown.version >= (latest.get(shown.name) ?? 0) }));
}

/** A row of the database. */
export type StoredPolicy = Omit<Policy, 'isFromConfig' | keyof Stamps> & Stamps;
export type PolicyStore = RowStore<StoredPolicy, null>;

/** A policy to create. */
export type PolicyDraft = PolicyRules & Pick<Policy, 'name'>;

/** Changes to a draft version. An absent member is unchanged. */
export type PolicyPatch = Partial<PolicyRules>;

const MAX_NAME_CHARACTERS = 256;
const MAX_DESCRIPTION_CHARACTERS = 4_096;
/** Maximum number of names in one list of a policy or an attachment. */
const MAX_NAMES = 100;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;
const NUL_OR_UNPAIRED_SURROGATE = /[\0\p{Cs}]/u;

/** Throws InvalidInput for a name that is blank or too long, or has characters that headers and rows cannot contain. */
export function assertName(member: string, name: string): void {
  if (name.trim() === '' || name.length > MAX_NAME_CHARACTERS || CONTROL_OR_UNPAIRED_SURROGATE.test(name))
    throw new InvalidInput(
      `${member} must have 1 to ${MAX_NAME_CHARACTERS} characters, no control character and no unpaired surrogate`,
    );
}

/** Throws InvalidInput for a list with too many names, or with an invalid name. */
export function assertNames(member: string, names: readonly string[]): void {
  if (names.length > MAX_NAMES) throw new InvalidInput(`${member} must have at most ${MAX_NAMES} entries`);
  for (const name of names) assertName(member, name);
}

/** The models of a condition: names or expressions. Null: all models. Throws InvalidInput. */
export function modelsIn(condition: JsonObject | null): readonly string[] | null {
  if (condition === null) return null;
  const unknown = Object.keys(condition).find((member) => member !== 'model');
  if (unknown !== undefined)
    throw new InvalidInput(`condition.${unknown.slice(0, 80)} is not supported: only model is`);
  const model = condition['model'] ?? null;
  if (model === null) return null;
  const models: readonly unknown[] = Array.isArray(model) ? model : [model];
  if (!models.every((name) => typeof name === 'string'))
    throw new InvalidInput('condition.model must be a text or a list of texts');
  assertNames('condition.model', models);
  return models.length === 0 ? null : models;
}

/** Returns the rules unchanged. Throws InvalidInput for rules that cannot be stored. */
export function validRules<Rules extends PolicyRules>(rules: Rules): Rules {
  const { description, inherit, guardrailsAdd, guardrailsRemove, condition, pipeline } = rules;
  if (inherit !== null) assertName('inherit', inherit);
  if (
    description !== null &&
    (description.length > MAX_DESCRIPTION_CHARACTERS || NUL_OR_UNPAIRED_SURROGATE.test(description))
  )
    throw new InvalidInput(
      `description must have at most ${MAX_DESCRIPTION_CHARACTERS} characters, no NUL character and no unpaired surrogate`,
    );
  assertNames('guardrails_add', guardrailsAdd);
  assertNames('guardrails_remove', guardrailsRemove);
  modelsIn(condition);
  pipelineOf(pipeline);
  for (const { guardrail } of pipeline?.steps ?? []) assertName('pipeline.steps.guardrail', guardrail);
  return rules;
}

const textsIn = (value: unknown, member: string): readonly string[] => {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value) || !value.every((text) => typeof text === 'string'))
    throw new InvalidInput(`${member} must be a list of texts`);
  return value;
};

const textOrNull = (value: unknown, member: string): string | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') throw new InvalidInput(`${member} must be a text`);
  return value;
};

/** Members of a policy in the configuration file. */
const MEMBERS = new Set(['inherit', 'description', 'guardrails', 'condition', 'pipeline']);

/**
 * Reads a policy from an entry of the configuration file, or from a request that checks such an entry. Throws
 * InvalidInput.
 */
export function rulesOfEntry(entry: unknown): PolicyRules {
  if (!isJsonObject(entry)) throw new InvalidInput('must be an object');
  const unknown = Object.keys(entry).find((member) => !MEMBERS.has(member));
  if (unknown !== undefined) throw new InvalidInput(`${unknown.slice(0, 80)} is not a member of a policy`);
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

/**
 * The version in force among the versions of one policy; undefined for none. During a change of status, two versions
 * may have the status `production`. Then the version with the later `productionAt` is in force.
 */
export function inForceAmong(versions: readonly Policy[]): Policy | undefined {
  const activatedMs = ({ productionAt }: Policy): number => productionAt?.getTime() ?? 0;
  const inProduction = versions.filter(({ status }) => status === 'production');
  return inProduction.toSorted((left, right) => activatedMs(right) - activatedMs(left))[0];
}

/** The policies in force by name. */
export function policiesInForce(all: readonly Policy[]): ReadonlyMap<string, Policy> {
  const inForce = new Map<string, Policy>();
  for (const [name, versions] of Map.groupBy(all, (policy) => policy.name)) {
    const found = inForceAmong(versions);
    if (found !== undefined) inForce.set(name, found);
  }
  return inForce;
}

/** Maximum number of policies in a chain of inheritance. */
const MAX_CHAIN = 20;

/** A policy and its ancestors. */
interface Inheritance {
  /** The most general ancestor first, the policy itself last. After a fault, the policy only. */
  readonly chain: readonly Policy[];
  /** Null for a valid inheritance. */
  readonly fault: { readonly isCycle: boolean; readonly message: string } | null;
}

/** Resolves the inheritance of a policy. A missing parent, a cycle and a chain that is too long are faults. */
export function inheritanceOf(policy: Policy, inForce: ReadonlyMap<string, Policy>): Inheritance {
  const faulty = (message: string, isCycle = false): Inheritance => ({ chain: [policy], fault: { isCycle, message } });
  const chain: Policy[] = [policy];
  let child = policy;
  while (child.inherit !== null) {
    const parentName = child.inherit;
    if (chain.some(({ name }) => name === parentName))
      return faulty(`the inheritance of '${policy.name}' has a cycle at '${parentName}'`, true);
    const parent = inForce.get(parentName);
    if (parent === undefined) return faulty(`the parent policy '${parentName}' of '${child.name}' is not in force`);
    if (chain.length === MAX_CHAIN) return faulty(`'${policy.name}' inherits from more than ${MAX_CHAIN - 1} policies`);
    chain.unshift(parent);
    child = parent;
  }
  return { chain, fault: null };
}

/** Rules that two versions of policies may differ in. */
const RULES = ['inherit', 'description', 'guardrailsAdd', 'guardrailsRemove', 'condition', 'pipeline'] as const;

/** Names of the rules in which two versions differ. */
export const differingRules = (one: PolicyRules, other: PolicyRules): readonly (typeof RULES)[number][] =>
  RULES.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
