import { Conflict, DomainError, NotFound } from '../src/domain/errors.ts';
import { activityPeriodOf } from '../src/domain/gateway-activity/gateway-activity.ts';
import { useByDay } from '../src/domain/guardrails/guardrail-use.ts';
import type { CallFacts } from '../src/domain/policies/attachment.ts';
import type { MatchedPolicy } from '../src/domain/policies/policy-book.ts';
import { policyFaults, type PolicyCheck } from '../src/domain/policies/policy-check.ts';
import { type PolicyUseReport, useByPolicy } from '../src/domain/policies/policy-use.ts';
import {
  inForceAmong,
  type Policy,
  type PolicyDraft,
  type PolicyPatch,
  shownAmong,
  type ShownPolicy,
  unknownPolicyId,
  unknownPolicyName,
  type VersionStatus,
} from '../src/domain/policies/policy.ts';
import { system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import { assertGuardrailsExist, policyAdmin, policyViewer } from './operation/policy-access.ts';
import type { PolicyPlatform } from './operation/policy-platform.ts';
import type { Scope } from './operation/scope.ts';

type PolicyScope = Scope<PolicyPlatform>;

function policyOf({ platform }: PolicyScope, id: string): Policy {
  const policy = platform.policies.list().find((one) => one.id === id);
  if (policy === undefined) throw unknownPolicyId(id);
  return policy;
}

const versionsOf = ({ platform }: PolicyScope, name: string): readonly Policy[] =>
  platform.policies
    .list()
    .filter((one) => one.name === name)
    .toSorted((one, other) => other.version - one.version);

const shown = ({ platform }: PolicyScope, versions: readonly Policy[]): readonly ShownPolicy[] =>
  shownAmong(platform.policies.list(), versions);

const shownOne = (scope: PolicyScope, policy: Policy): ShownPolicy =>
  shown(scope, [policy])[0] ?? { ...policy, isLatest: true };

/** Throws Conflict for a policy of the configuration file. */
function assertNotOfFile({ id, isFromConfig }: Policy): void {
  if (isFromConfig)
    throw new Conflict(`Policy '${id}' is defined in the configuration file and can only be changed there`);
}

/** Lists the versions of all policies, those of the configuration file first. */
export const listPolicies = operation({
  name: 'listPolicies',
  access: policyViewer,
  run: (scope: PolicyScope, { status }: { readonly status: VersionStatus | null }): readonly ShownPolicy[] =>
    shown(
      scope,
      scope.platform.policies.list().filter((one) => status === null || one.status === status),
    ),
});

/** One version by its id. Throws NotFound. */
export const getPolicy = operation({
  name: 'getPolicy',
  access: policyViewer,
  run: (scope: PolicyScope, { id }: { readonly id: string }): ShownPolicy => shownOne(scope, policyOf(scope, id)),
});

/** The version of a policy that is in force, with its guardrails. Throws NotFound. */
export const getPolicyByName = operation({
  name: 'getPolicyByName',
  access: policyViewer,
  run(scope: PolicyScope, { name }: { readonly name: string }) {
    const policy = inForceAmong(versionsOf(scope, name));
    const resolved = scope.platform.policies.book().resolved(name, null);
    if (policy === undefined || resolved === null) throw unknownPolicyName(name);
    return { policy: shownOne(scope, policy), guardrails: resolved.guardrails };
  },
});

/** Lists the versions of a policy, the newest first; none for an unknown name. */
export const listPolicyVersions = operation({
  name: 'listPolicyVersions',
  access: policyViewer,
  run: (scope: PolicyScope, { name }: { readonly name: string }): readonly ShownPolicy[] =>
    shown(scope, versionsOf(scope, name)),
});

/** Creates a policy, in force. Throws Conflict when its name is taken, and InvalidInput. */
export const createPolicy = operation({
  name: 'createPolicy',
  access: policyAdmin,
  async run(scope: PolicyScope, draft: PolicyDraft): Promise<ShownPolicy> {
    const { policies, ids } = scope.platform;
    assertGuardrailsExist(scope.platform, draft);
    return shownOne(scope, await policies.add({ ...draft, id: ids.uuid() }, authored(scope)));
  },
});

/** Copies a version, or the one in force, as a new draft. Throws NotFound and Conflict. */
export const createPolicyVersion = operation({
  name: 'createPolicyVersion',
  access: policyAdmin,
  async run(
    scope: PolicyScope,
    { name, sourceId }: { readonly name: string; readonly sourceId: string | null },
  ): Promise<ShownPolicy> {
    const versions = versionsOf(scope, name);
    const source = sourceId === null ? inForceAmong(versions) : versions.find(({ id }) => id === sourceId);
    if (source === undefined)
      throw sourceId === null
        ? new NotFound('policy', name, `No production version found for policy '${name}'`)
        : unknownPolicyId(sourceId);
    assertNotOfFile(source);
    const { policies, ids } = scope.platform;
    return shownOne(scope, await policies.addVersion(source, ids.uuid(), authored(scope)));
  },
});

/** Changes a draft. Throws NotFound, Conflict for another status, and InvalidInput. */
export const updatePolicy = operation({
  name: 'updatePolicy',
  access: policyAdmin,
  async run(
    scope: PolicyScope,
    { id, patch }: { readonly id: string; readonly patch: PolicyPatch },
  ): Promise<ShownPolicy> {
    const before = policyOf(scope, id);
    assertNotOfFile(before);
    assertGuardrailsExist(scope.platform, { ...before, ...patch });
    const changed = await scope.platform.policies.change(id, patch, authored(scope));
    if (changed === null) throw unknownPolicyId(id);
    return shownOne(scope, changed);
  },
});

/**
 * Publishes a draft, or changes whether a version is in force. A version that comes in force replaces the one before.
 * Throws NotFound, Conflict and InvalidInput.
 */
export const setPolicyStatus = operation({
  name: 'setPolicyStatus',
  access: policyAdmin,
  async run(
    scope: PolicyScope,
    { id, status }: { readonly id: string; readonly status: VersionStatus },
  ): Promise<ShownPolicy> {
    const before = policyOf(scope, id);
    assertNotOfFile(before);
    if (status === 'production') assertGuardrailsExist(scope.platform, before);
    const changed = await scope.platform.policies.setStatus(id, status, authored(scope));
    if (changed === null) throw unknownPolicyId(id);
    return shownOne(scope, changed);
  },
});

/** Deletes one version. No other version comes in force in its place. Throws NotFound and Conflict. */
export const deletePolicy = operation({
  name: 'deletePolicy',
  access: policyAdmin,
  async run(scope: PolicyScope, { id }: { readonly id: string }): Promise<ShownPolicy> {
    assertNotOfFile(policyOf(scope, id));
    const [removed] = await scope.platform.policies.remove([id]);
    if (removed === undefined) throw unknownPolicyId(id);
    return shownOne(scope, removed);
  },
});

/** Deletes all versions of a policy. Throws NotFound and Conflict. */
export const deletePolicyVersions = operation({
  name: 'deletePolicyVersions',
  access: policyAdmin,
  async run(scope: PolicyScope, { name }: { readonly name: string }): Promise<readonly ShownPolicy[]> {
    const versions = versionsOf(scope, name);
    for (const one of versions) assertNotOfFile(one);
    const removed = await scope.platform.policies.remove(versions.map(({ id }) => id));
    if (removed.length === 0) throw unknownPolicyName(name);
    return shown(scope, removed);
  },
});

/** The policies that apply to a call with these facts, without a call. */
export const listMatchingPolicies = operation({
  name: 'listMatchingPolicies',
  access: policyViewer,
  run: ({ platform }: PolicyScope, facts: CallFacts): readonly MatchedPolicy[] =>
    platform.policies.book().match(facts, []),
});

/** The guardrails of a version, with those that it inherits. Throws NotFound, and InvalidInput for a missing parent. */
export const getPolicyGuardrails = operation({
  name: 'getPolicyGuardrails',
  access: policyViewer,
  run(scope: PolicyScope, { id }: { readonly id: string }) {
    const policy = policyOf(scope, id);
    const resolved = scope.platform.policies.bookWith(policy).resolved(policy.name, null);
    return { policy, guardrails: resolved?.guardrails ?? [] };
  },
});

/** Checks entries as the configuration file has them. Nothing is stored. */
export const checkPolicies = operation({
  name: 'checkPolicies',
  access: policyViewer,
  run({ platform }: PolicyScope, { entries }: { readonly entries: Readonly<Record<string, unknown>> }): PolicyCheck {
    const known = new Set(platform.activeGuardrails.current().map(({ definition }) => definition.name));
    return policyFaults(entries, {
      hasGuardrail: (guardrail) => known.has(guardrail),
      others: platform.policies.list(),
      ruleFaultOf(policy) {
        try {
          platform.policies.bookWith(policy);
          return null;
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
          return error.message;
        }
      },
    });
  },
});

/** Runs of the guardrails of the policies in force, in a period. Runs of the last seconds may be missing. */
export const getPolicyUse = operation({
  name: 'getPolicyUse',
  access: policyViewer,
  async run(
    { platform }: PolicyScope,
    { from, to }: { readonly from: string | null; readonly to: string | null },
  ): Promise<PolicyUseReport> {
    const period = activityPeriodOf(from, to, platform.clock.now());
    const all = await platform.stores.guardrailUse.days({ ...period, guardrailId: null });
    const book = platform.policies.book();
    const names = [...new Set(platform.policies.list().map(({ name }) => name))];
    const used = names.flatMap((name) => book.resolved(name, null) ?? []);
    const guardrails = new Set(used.flatMap((one) => one.guardrails));
    return { rows: useByPolicy(used, all), days: useByDay(all.filter(({ name }) => guardrails.has(name))) };
  },
});

/** Applies changes of policies by other processes. */
export const refreshPolicies = operation({
  name: 'refreshPolicies',
  access: system,
  run: ({ platform }: PolicyScope): Promise<void> => platform.policies.refresh(),
});
