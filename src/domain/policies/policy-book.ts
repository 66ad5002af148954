import { type CallFacts, matchedVia, type PolicyAttachment } from './attachment.ts';
import type { Pipeline } from './pipeline.ts';
import { chainOf, modelsIn, policiesInForce, type Policy } from './policy.ts';

/** Creates a check whether a model matches a name or an expression as a whole. Throws InvalidInput for a wrong one. */
export type ModelMatcher = (source: string) => (model: string) => boolean;

/** A policy in force, with its inheritance resolved. */
interface CompiledPolicy {
  readonly name: string;
  /** Why calls to which the policy applies are refused; null when it can run. */
  readonly fault: string | null;
  readonly pipeline: Pipeline | null;
  appliesTo(model: string | null): boolean;
  /** Names of its guardrails for a model, each once. */
  guardrailsFor(model: string | null): readonly string[];
  /** As `guardrailsFor`, with the guardrails of every condition. */
  guardrailsForAllModels(): readonly string[];
}

/** A policy that applies to a call. */
export interface MatchedPolicy {
  readonly name: string;
  /** Why it applies, such as `scope:*`, `team:sales` or `request`. */
  readonly via: string;
  readonly guardrails: readonly string[];
  readonly pipeline: Pipeline | null;
  readonly fault: string | null;
}

/** A policy that a request, a key or its owner names. */
export interface NamedPolicy {
  readonly name: string;
  readonly via: 'request' | 'key' | 'team' | 'project';
}

/** The policies in force and their attachments. */
export interface PolicyBook {
  /** Whether there is neither a policy nor an attachment. */
  readonly isEmpty: boolean;
  has(name: string): boolean;
  /** The policies of a call: attached ones by priority, then the named ones; each once. Unknown names are left out. */
  match(facts: CallFacts, named: readonly NamedPolicy[]): readonly MatchedPolicy[];
  /**
   * A policy in force with its guardrails and those that it inherits, for all models: conditions are ignored. Null for
   * an unknown name.
   */
  resolved(name: string): Pick<MatchedPolicy, 'name' | 'guardrails'> | null;
}

type Condition = (model: string | null) => boolean;

function conditionOf({ condition }: Policy, matcher: ModelMatcher): Condition {
  const models = modelsIn(condition);
  if (models === null) return () => true;
  const checks = models.map(matcher);
  return (model) => model !== null && checks.some((matches) => matches(model));
}

/** Names of the guardrails that policies select one after another, the most general policy first. */
function selectedBy(policies: readonly Policy[]): readonly string[] {
  const names = new Set<string>();
  for (const { guardrailsAdd, guardrailsRemove } of policies) {
    for (const name of guardrailsAdd) names.add(name);
    for (const name of guardrailsRemove) names.delete(name);
  }
  return [...names];
}

function compile(policy: Policy, inForce: ReadonlyMap<string, Policy>, matcher: ModelMatcher): CompiledPolicy {
  const chain = chainOf(policy, inForce);
  const links = (typeof chain === 'string' ? [policy] : chain).map((one) => ({
    policy: one,
    applies: conditionOf(one, matcher),
  }));
  return {
    name: policy.name,
    fault: typeof chain === 'string' ? chain : null,
    pipeline: policy.pipeline,
    appliesTo: (model) => links.at(-1)?.applies(model) === true,
    guardrailsFor: (model) => selectedBy(links.filter(({ applies }) => applies(model)).map((link) => link.policy)),
    guardrailsForAllModels: () => selectedBy(links.map((link) => link.policy)),
  };
}

const LAST = Number.POSITIVE_INFINITY;

/** Lower priorities first; equal ones in the order of their creation. */
const byPriority = (attachments: readonly PolicyAttachment[]): readonly PolicyAttachment[] =>
  attachments.toSorted((one, other) => {
    const [first, second] = [one.priority ?? LAST, other.priority ?? LAST];
    return first === second ? 0 : first - second;
  });

/** Throws InvalidInput for a condition with a wrong expression. */
export function createPolicyBook(
  policies: readonly Policy[],
  attachments: readonly PolicyAttachment[],
  matcher: ModelMatcher,
): PolicyBook {
  const inForce = policiesInForce(policies);
  const compiled = new Map([...inForce].map(([name, one]) => [name, compile(one, inForce, matcher)]));
  const ordered = byPriority(attachments);

  function attachedTo(facts: CallFacts): readonly { readonly name: string; readonly via: string }[] {
    const matches = ordered.flatMap(({ isDefault, policyName: name, ...rules }) => {
      const via = matchedVia({ ...rules, policyName: name, isDefault }, facts);
      // A policy that cannot apply must not replace the default one.
      return via === null || compiled.get(name)?.appliesTo(facts.model) !== true ? [] : [{ name, via, isDefault }];
    });
    const others = matches.filter(({ isDefault }) => !isDefault);
    return others.length > 0 ? others : matches.map((one) => ({ ...one, via: 'scope:default' }));
  }

  const matchOf = (policy: CompiledPolicy, via: string, model: string | null): MatchedPolicy => {
    const { name, fault, pipeline } = policy;
    return { name, via, fault, pipeline, guardrails: policy.guardrailsFor(model) };
  };

  return {
    isEmpty: inForce.size === 0 && attachments.length === 0,
    has: (name) => compiled.has(name),
    match(facts, named) {
      const matched = new Map<string, MatchedPolicy>();
      for (const { name, via } of [...attachedTo(facts), ...named]) {
        if (matched.has(name)) continue;
        const policy = compiled.get(name);
        if (policy?.appliesTo(facts.model) === true) matched.set(name, matchOf(policy, via, facts.model));
      }
      return [...matched.values()];
    },
    resolved(name) {
      const policy = compiled.get(name);
      return policy === undefined ? null : { name, guardrails: policy.guardrailsForAllModels() };
    },
  };
}

/** Names of the guardrails of policies, without those that only their pipelines run; each once. */
export const guardrailsOfPolicies = (matched: readonly MatchedPolicy[]): readonly string[] => [
  ...new Set(
    matched.flatMap(({ guardrails, pipeline }) => {
      const steps = new Set(pipeline?.steps.map(({ guardrail }) => guardrail));
      return guardrails.filter((name) => !steps.has(name));
    }),
  ),
];
