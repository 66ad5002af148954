import { type CallFacts, matchedVia, type PolicyAttachment } from './attachment.ts';
import type { Pipeline } from './pipeline.ts';
import { inheritanceOf, modelsIn, policiesInForce, type Policy } from './policy.ts';

/**
 * Creates a check of model names. `source` is a name or an RE2 expression, which must match the whole model name.
 * Throws InvalidInput for an invalid expression.
 */
export type ModelMatcher = (source: string) => (model: string) => boolean;

/** A policy in force, with its inheritance resolved. */
interface CompiledPolicy {
  readonly name: string;
  /** Reason why calls to which the policy applies are refused; null for a policy that can run. */
  readonly fault: string | null;
  readonly pipeline: Pipeline | null;
  appliesTo(model: string | null): boolean;
  /** Names of the guardrails of the policy and its parents for a model, each once. */
  guardrailsFor(model: string | null): readonly string[];
  /** As `guardrailsFor`, with the guardrails of every condition. */
  guardrailsForAllModels(): readonly string[];
}

/** A policy that applies to a call. */
export interface MatchedPolicy {
  readonly name: string;
  /** Reason why the policy applies, such as `scope:*`, `team:sales` or `request`. */
  readonly via: string;
  readonly guardrails: readonly string[];
  readonly pipeline: Pipeline | null;
  /** Reason why the call must be refused; null for a policy that can run. */
  readonly fault: string | null;
}

/** A policy that a request, a key, its team or its project names. */
export interface NamedPolicy {
  readonly name: string;
  readonly via: 'request' | 'key' | 'team' | 'project';
}

/** The policies in force and their attachments. */
export interface PolicyBook {
  /** Whether there is neither a policy nor an attachment. */
  readonly isEmpty: boolean;
  has(name: string): boolean;
  /** The policies of a call, each once: attached ones by priority, then `named`. Unknown names are left out. */
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
  const { chain, fault } = inheritanceOf(policy, inForce);
  const links = chain.map((member) => ({ member, applies: conditionOf(member, matcher) }));
  return {
    name: policy.name,
    fault: fault?.message ?? null,
    pipeline: policy.pipeline,
    // The last member of the chain is the policy itself.
    appliesTo: (model) => links.at(-1)?.applies(model) === true,
    guardrailsFor: (model) => selectedBy(links.filter(({ applies }) => applies(model)).map(({ member }) => member)),
    guardrailsForAllModels: () => selectedBy(links.map(({ member }) => member)),
  };
}

/** Attachments by ascending priority, null last. Attachments with an equal priority keep their order. */
const byPriority = (attachments: readonly PolicyAttachment[]): readonly PolicyAttachment[] =>
  attachments.toSorted((left, right) => {
    if (left.priority === right.priority) return 0;
    return (left.priority ?? Infinity) - (right.priority ?? Infinity);
  });

/** Throws InvalidInput for a condition with an invalid expression. */
export function createPolicyBook(
  policies: readonly Policy[],
  attachments: readonly PolicyAttachment[],
  matcher: ModelMatcher,
): PolicyBook {
  const inForce = policiesInForce(policies);
  const compiled = new Map([...inForce].map(([name, policy]) => [name, compile(policy, inForce, matcher)]));
  const ordered = byPriority(attachments);

  /** The policies whose attachments match a call. Default attachments count only when no other attachment matches. */
  function attachedTo(facts: CallFacts): readonly { readonly name: string; readonly via: string }[] {
    const matches = ordered.flatMap(({ isDefault, policyName: name, ...rules }) => {
      const via = matchedVia({ ...rules, policyName: name, isDefault }, facts);
      // An attachment whose policy does not apply to the model counts as no match, so a default attachment may apply.
      return via === null || compiled.get(name)?.appliesTo(facts.model) !== true ? [] : [{ name, via, isDefault }];
    });
    const others = matches.filter(({ isDefault }) => !isDefault);
    return others.length > 0 ? others : matches.map((match) => ({ ...match, via: 'scope:default' }));
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

/** Names of the guardrails of policies, each once. Guardrails that a pipeline of their policy runs are left out. */
export const guardrailsOfPolicies = (matched: readonly MatchedPolicy[]): readonly string[] => [
  ...new Set(
    matched.flatMap(({ guardrails, pipeline }) => {
      const steps = new Set(pipeline?.steps.map(({ guardrail }) => guardrail));
      return guardrails.filter((name) => !steps.has(name));
    }),
  ),
];
