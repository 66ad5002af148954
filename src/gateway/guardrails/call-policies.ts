import type { Caller } from '../../domain/caller.ts';
import { type CallLabels, tagsIn } from '../../domain/calls/call-labels.ts';
import { GuardrailMissing, InvalidInput } from '../../domain/errors.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { CallFacts } from '../../domain/policies/attachment.ts';
import type { MatchedPolicy, NamedPolicy, PolicyBook } from '../../domain/policies/policy-book.ts';
import { ruledAlias } from '../../domain/users/session.ts';

/** Facts by which the policies of a call are selected. */
export interface PolicySelection {
  readonly caller: Caller;
  /** Public name of the model. */
  readonly model: string;
  /** Labels of the call, with its tags. */
  readonly labels?: CallLabels | undefined;
  /** Policies that the request names; none when absent. */
  readonly policies?: readonly string[] | undefined;
}

const NO_POLICIES: readonly MatchedPolicy[] = [];

const namesIn = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string') : [];

/** Policies in `metadata.policies` of a key, its team and its project. */
function namedByOwners(key: VirtualKey): readonly NamedPolicy[] {
  const { team, project } = key.owners ?? {};
  return [
    ...namesIn(key.metadata['policies']).map((name) => ({ name, via: 'key' as const })),
    ...namesIn(team?.metadata['policies']).map((name) => ({ name, via: 'team' as const })),
    ...namesIn(project?.metadata['policies']).map((name) => ({ name, via: 'project' as const })),
  ];
}

const factsOf = ({ caller, model, labels }: PolicySelection): CallFacts => ({
  teamAlias: caller.key?.owners?.team?.alias ?? null,
  teamId: caller.teamId,
  keyAlias: caller.key === null ? null : ruledAlias(caller.key),
  model,
  tags: labels === undefined ? [] : tagsIn(labels),
});

/**
 * The policies that apply to a call. Throws InvalidInput when the request names an unknown policy. Throws
 * GuardrailMissing when the key, its team or its project names an unknown policy, and for a policy with a faulty
 * inheritance. Without these errors, the call would run without its guardrails.
 */
export function policiesOfCall(book: PolicyBook, selection: PolicySelection): readonly MatchedPolicy[] {
  const { caller, policies = [] } = selection;
  const byOwners = caller.key === null ? [] : namedByOwners(caller.key);
  if (book.isEmpty && byOwners.length === 0 && policies.length === 0) return NO_POLICIES;
  const unknownOfRequest = policies.find((name) => !book.has(name));
  if (unknownOfRequest !== undefined) throw unknownPolicy(unknownOfRequest);
  const unknownOfOwner = byOwners.find(({ name }) => !book.has(name));
  if (unknownOfOwner !== undefined)
    throw new GuardrailMissing(
      `The policy '${unknownOfOwner.name}' of this call is not in force, so the call is refused.`,
    );
  const named = [...byOwners, ...policies.map((name) => ({ name, via: 'request' as const }))];
  const matched = book.match(factsOf(selection), named);
  const faulty = matched.find(({ fault }) => fault !== null);
  if (faulty !== undefined)
    throw new GuardrailMissing(
      `The policy '${faulty.name}' of this call cannot run: ${faulty.fault ?? ''}. The call is refused.`,
    );
  return matched;
}

function unknownPolicy(name: string): InvalidInput {
  const message = `The policy '${name.slice(0, 256)}' does not exist. Remove it from 'policies', or name one that is in force.`;
  return new InvalidInput(message, [{ path: ['body', 'policies'], rule: 'unknown', message }]);
}
