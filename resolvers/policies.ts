import { Conflict, DomainError, NotFound } from '../src/domain/errors.ts';
import { activityPeriodOf } from '../src/domain/gateway-activity/gateway-activity.ts';
import { useByDay } from '../src/domain/guardrails/guardrail-use.ts';
import type { GuardedText } from '../src/domain/guardrails/guardrail.ts';
import type { CallFacts } from '../src/domain/policies/attachment.ts';
import type { MatchedPolicy } from '../src/domain/policies/policy-book.ts';
import type { Pipeline } from '../src/domain/policies/pipeline.ts';
import { type PipelineTrial, tryPipeline } from '../src/domain/policies/pipeline-trial.ts';
import { policyFaults, type PolicyCheck } from '../src/domain/policies/policy-check.ts';
import { type PolicyUseReport, useByPolicy } from '../src/domain/policies/policy-use.ts';
import {
  differingRules,
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
import { callerOf, operation } from './operation/operation.ts';
import { assertGuardrailsExist, policyAdmin, policyViewer } from './operation/policy-access.ts';
import type { PolicyPlatform } from './operation/policy-platform.ts';
import type { Scope } from './operation/scope.ts';

type PolicyScope = Scope<PolicyPlatform>;

function policyOf({ platform }: PolicyScope, id: string): Policy {
  const policy = platform.policies.list().find((one) => one.id === id);
  if (policy === undefined) throw unknownPolicyId(id);
  return policy;
}

/** Versions of a policy, the newest first. */
const versionsOf = ({ platform }: PolicyScope, name: string): readonly Policy[] =>
  platform.policies
    .list()
    .filter((one) => one.name === name)
    .toSorted((one, other) => other.version - one.version);

const shownVersions = ({ platform }: PolicyScope, versions: readonly Policy[]): readonly ShownPolicy[] =>
  shownAmong(platform.policies.list(), versions);

const shownVersion = (scope: PolicyScope, policy: Policy): ShownPolicy =>
  shownVersions(scope, [policy])[0] ?? { ...policy, isLatest: true };

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
    shownVersions(
      scope,
      scope.platform.policies.list().filter((one) => status === null || one.status === status),
    ),
});

/** Reads one version by its id. Throws NotFound. */
export const getPolicy = operation({
  name: 'getPolicy',
  access: policyViewer,
  run: (scope: PolicyScope, { id }: { readonly id: string }): ShownPolicy => shownVersion(scope, policyOf(scope, id)),
});

/** Two versions, and the names of the rules in which they differ. */
export interface PolicyComparison {
  readonly first: ShownPolicy;
  readonly second: ShownPolicy;
  readonly differing: ReturnType<typeof differingRules>;
}

/** Compares the rules of two versions by their ids. Throws NotFound. */
export const comparePolicies = operation({
  name: 'comparePolicies',
  access: policyViewer,
  run(
    scope: PolicyScope,
    { firstId, secondId }: { readonly firstId: string; readonly secondId: string },
  ): PolicyComparison {
    const [first, second] = [policyOf(scope, firstId), policyOf(scope, secondId)];
    const differing = differingRules(first, second);
    return { first: shownVersion(scope, first), second: shownVersion(scope, second), differing };
  },
});

/** Reads the version of a policy that is in force, with its guardrails. Throws NotFound when none is in force. */
export const getPolicyByName = operation({
  name: 'getPolicyByName',
  access: policyViewer,
  run(scope: PolicyScope, { name }: { readonly name: string }) {
    const policy = inForceAmong(versionsOf(scope, name));
    const resolved = scope.platform.policies.book().resolved(name);
    if (policy === undefined || resolved === null) throw unknownPolicyName(name);
    return { policy: shownVersion(scope, policy), guardrails: resolved.guardrails };
  },
});

/** Lists the versions of a policy, the newest first; none for an unknown name. */
export const listPolicyVersions = operation({
  name: 'listPolicyVersions',
  access: policyViewer,
  run: (scope: PolicyScope, { name }: { readonly name: string }): readonly ShownPolicy[] =>
    shownVersions(scope, versionsOf(scope, name)),
});

/**
 * Creates a policy. Its first version is in force immediately. Throws Conflict when the name is taken, and
 * InvalidInput.
 */
export const createPolicy = operation({
  name: 'createPolicy',
  access: policyAdmin,
  async run(scope: PolicyScope, draft: PolicyDraft): Promise<ShownPolicy> {
    const { policies, ids } = scope.platform;
    assertGuardrailsExist(scope.platform, draft);
    return shownVersion(scope, await policies.add({ ...draft, id: ids.uuid() }, authored(scope)));
  },
});

/** Copies a version as a new draft. Without `sourceId`, copies the version in force. Throws NotFound and Conflict. */
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
    return shownVersion(scope, await policies.addVersion(source, ids.uuid(), authored(scope)));
  },
});

/** Changes a draft. Throws NotFound, Conflict for a version that is no draft, and InvalidInput. */
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
    return shownVersion(scope, changed);
  },
});

/**
 * Publishes a draft, or changes whether a published version is in force. A version that comes into force replaces the
 * version that was in force. Throws NotFound, Conflict for a policy of the configuration file, and InvalidInput for a
 * status that cannot follow.
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
    return shownVersion(scope, changed);
  },
});

/** Deletes one version. No other version comes into force instead. Throws NotFound and Conflict. */
export const deletePolicy = operation({
  name: 'deletePolicy',
  access: policyAdmin,
  async run(scope: PolicyScope, { id }: { readonly id: string }): Promise<ShownPolicy> {
    assertNotOfFile(policyOf(scope, id));
    const [removed] = await scope.platform.policies.remove([id]);
    if (removed === undefined) throw unknownPolicyId(id);
    return shownVersion(scope, removed);
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
    return shownVersions(scope, removed);
  },
});

/** Lists the policies that attachments apply to a call with these facts. No call is made. */
export const listMatchingPolicies = operation({
  name: 'listMatchingPolicies',
  access: policyViewer,
  run: ({ platform }: PolicyScope, facts: CallFacts): readonly MatchedPolicy[] =>
    platform.policies.book().match(facts, []),
});

/**
 * Lists the guardrails of a version, with those that it inherits, for all models. Throws NotFound, and InvalidInput for
 * a missing parent.
 */
export const getPolicyGuardrails = operation({
  name: 'getPolicyGuardrails',
  access: policyViewer,
  run(scope: PolicyScope, { id }: { readonly id: string }) {
    const policy = policyOf(scope, id);
    const resolved = scope.platform.policies.bookWith(policy).resolved(policy.name);
    return { policy, guardrails: resolved?.guardrails ?? [] };
  },
});

/** A pipeline and the texts to try it on. */
export interface TriedPipeline {
  readonly pipeline: Pipeline;
  readonly texts: readonly GuardedText[];
}

/** Runs a pipeline on texts. No model is called and nothing is stored; guardrails call their services. */
export const testPipeline = operation({
  name: 'testPipeline',
  access: policyAdmin,
  run(scope: PolicyScope, tried: TriedPipeline): Promise<PipelineTrial> {
    const { activeGuardrails, ids, clock } = scope.platform;
    const run = { caller: callerOf(scope), callId: ids.uuid(), traceId: ids.traceId(), signal: scope.signal };
    return tryPipeline(activeGuardrails.current(), tried, { ...run, nowMs: () => clock.monotonicMs() });
  },
});

/** Checks policies in the format of the configuration file, by name. Nothing is stored. */
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

/**
 * Counts the runs of the guardrails of the policies in force, in a period of days. The runs of the last seconds may be
 * missing. The period is that of `activityPeriodOf`.
 */
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
    const inForce = names.flatMap((name) => book.resolved(name) ?? []);
    const selected = new Set(inForce.flatMap(({ guardrails }) => guardrails));
    return { rows: useByPolicy(inForce, all), days: useByDay(all.filter(({ name }) => selected.has(name))) };
  },
});

/** Applies changes of policies by other processes. */
export const refreshPolicies = operation({
  name: 'refreshPolicies',
  access: system,
  run: ({ platform }: PolicyScope): Promise<void> => platform.policies.refresh(),
});
