import { InvalidInput } from '../src/domain/errors.ts';
import { type GuardrailTrial, tryGuardrails } from '../src/domain/policies/guardrail-trial.ts';
import { inForceAmong, unknownPolicyName } from '../src/domain/policies/policy.ts';
import { callerOf, operation } from './operation/operation.ts';
import { policyAdmin } from './operation/policy-access.ts';
import type { PolicyPlatform } from './operation/policy-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Maximum number of inputs of one trial. */
const MAX_INPUTS = 100;

/** Names of policies and guardrails, and the inputs to try them on. */
export interface TriedGuardrails {
  /** Names of policies in force. */
  readonly policies: readonly string[];
  readonly guardrails: readonly string[];
  readonly phase: 'request' | 'response';
  /** Texts of each input. */
  readonly inputs: readonly (readonly string[])[];
}

/** Names of the guardrails of a policy, its parents and its pipeline. Throws NotFound. */
function guardrailsOf({ platform: { policies } }: Scope<PolicyPlatform>, name: string): readonly string[] {
  const resolved = policies.book().resolved(name);
  if (resolved === null) throw unknownPolicyName(name);
  const pipeline = inForceAmong(policies.list().filter((one) => one.name === name))?.pipeline;
  return [...resolved.guardrails, ...(pipeline?.steps ?? []).map(({ guardrail }) => guardrail)];
}

/**
 * Runs the guardrails of policies, and named ones, on each input. All guardrails run, also after one that blocks. No
 * model is called and nothing is stored; guardrails call their services. Throws NotFound for a policy that is not in
 * force, and InvalidInput for too many inputs.
 */
export const testGuardrails = operation({
  name: 'testGuardrails',
  access: policyAdmin,
  async run(scope: Scope<PolicyPlatform>, tried: TriedGuardrails): Promise<readonly GuardrailTrial[]> {
    if (tried.inputs.length > MAX_INPUTS) throw new InvalidInput(`inputs_list can have at most ${MAX_INPUTS} inputs`);
    const names = [...new Set([...tried.policies.flatMap((name) => guardrailsOf(scope, name)), ...tried.guardrails])];
    const { activeGuardrails, ids } = scope.platform;
    const run = { caller: callerOf(scope), traceId: ids.traceId(), signal: scope.signal, phase: tried.phase };
    const trials: GuardrailTrial[] = [];
    for (const texts of tried.inputs)
      // oxlint-disable-next-line no-await-in-loop -- one after another, so that a trial does not flood services
      trials.push(await tryGuardrails(activeGuardrails.current(), { names, texts }, { ...run, callId: ids.uuid() }));
    return trials;
  },
});
