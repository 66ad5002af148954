import { GuardrailMissing, InvalidInput } from '../errors.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';
import type { Caller } from '../caller.ts';
import { type ActiveGuardrail, isVisibleTo } from './guardrail.ts';
import type { CallerGuardrails } from './key-guardrails.ts';

/**
 * Whether a key, its team or its project names guardrails or policies. Allocates nothing, because it runs for every
 * call.
 */
export const namesGuardrails = ({ metadata, owners }: VirtualKey): boolean =>
  isNamed(metadata['guardrails']) ||
  isNamed(owners?.team?.metadata['guardrails']) ||
  isNamed(owners?.project?.metadata['guardrails']) ||
  isNamed(metadata['policies']) ||
  isNamed(owners?.team?.metadata['policies']) ||
  isNamed(owners?.project?.metadata['policies']);

const isNamed = (list: unknown): boolean => Array.isArray(list) && list.length > 0;

/**
 * The guardrails of a call, in the order in which they run. Throws InvalidInput for an unknown name of the request, and
 * GuardrailMissing for an unknown name of the key, its owners or the configuration.
 */
export function selectedGuardrails(
  all: readonly ActiveGuardrail[],
  by: {
    readonly caller: Caller;
    /** Settings of the caller's key, team and project. */
    readonly callerGuardrails: CallerGuardrails;
    /** Names in the request. */
    readonly request: readonly string[];
    /** Names of the configuration, as of a deployment or a pass-through path. */
    readonly configured: readonly string[];
    /** Whether to include guardrails that are not named: with `defaultOn`, or with `logging_only` as only mode. */
    readonly defaults: boolean;
  },
): readonly ActiveGuardrail[] {
  const { caller, callerGuardrails, request, configured, defaults } = by;
  const visibleNames = new Set(all.filter((one) => isVisibleTo(one, caller)).map(({ definition }) => definition.name));
  const unknown = request.find((name) => !visibleNames.has(name));
  if (unknown !== undefined) throw unknownGuardrail(unknown);
  const required = [...callerGuardrails.named, ...configured];
  const missing = required.find((name) => !all.some(({ definition }) => definition.name === name));
  // Without the refusal, a call would run unchecked although its key or model names a guardrail.
  if (missing !== undefined)
    throw new GuardrailMissing(`The guardrail '${missing}' of this call is not configured, so the call is refused.`);
  return all.filter((one) => {
    const { name, defaultOn, modes, teamId } = one.definition;
    if (required.includes(name)) return true;
    if (request.includes(name) && isVisibleTo(one, caller)) return true;
    if (teamId !== null && teamId !== caller.teamId) return false;
    if (modes.includes('logging_only') && modes.length === 1) return defaults;
    return defaults && defaultOn && !callerGuardrails.disableGlobal && !callerGuardrails.optedOut.includes(name);
  });
}

function unknownGuardrail(name: string): InvalidInput {
  const message = `The guardrail '${name.slice(0, 256)}' does not exist. Remove it from 'guardrails', or name one that is configured.`;
  return new InvalidInput(message, [{ path: ['body', 'guardrails'], rule: 'unknown', message }]);
}
