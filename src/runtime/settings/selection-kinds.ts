import { isJsonObject } from '../../domain/json-object.ts';
import {
  DEFAULT_LATENCY,
  GROUP_STRATEGIES,
  type LatencyRule,
  type RoutingGroup,
  SELECTION_CHECKS,
  type SelectionCheck,
  type Strategy,
} from '../../domain/routing/selection-policy.ts';
import type { Kind, Refusal } from './kinds.ts';

type Path = readonly (string | number)[];

/** A part of a value, and its faults. With faults, the value is not used. */
interface Read<Value> {
  readonly value: Value;
  readonly refusals: readonly Refusal[];
}

/** A kind of setting that only the file has, not variables and arguments. */
const fileKind = <Value>(form: string, read: (raw: unknown) => Read<Value>): Kind<Value> => ({
  form,
  isSecret: false,
  parse(raw) {
    const { value, refusals } = read(raw);
    return refusals.length > 0 ? { refusals } : { value };
  },
});

/** An argument of a strategy: the member of the rule that it sets, and its values. */
interface Argument {
  readonly member: keyof LatencyRule;
  /** Accepted values, for messages. */
  readonly form: string;
  readonly accepts: (value: number) => boolean;
}

const SECONDS_PER_YEAR = 31_536_000;

/** Arguments of strategies by their names in the file. Other arguments have no effect. */
const ARGUMENTS: Readonly<Record<string, Argument>> = {
  ttl: {
    member: 'ttlSeconds',
    form: 'a number of seconds from 0',
    accepts: (value) => value >= 0 && value <= SECONDS_PER_YEAR,
  },
  lowest_latency_buffer: {
    member: 'buffer',
    form: 'a fraction from 0',
    accepts: (value) => value >= 0 && value <= 1_000,
  },
  max_latency_list_size: {
    member: 'samples',
    form: 'a number from 1 to 1000',
    accepts: (value) => Number.isInteger(value) && value >= 1 && value <= 1_000,
  },
  ttft_percentile: {
    member: 'firstTokenPercentile',
    form: 'a number above 0, at most 1',
    accepts: (value) => value > 0 && value <= 1,
  },
};

function readLatency(raw: unknown, path: Path): Read<LatencyRule> {
  if (raw === undefined || raw === null) return { value: DEFAULT_LATENCY, refusals: [] };
  if (!isJsonObject(raw)) return { value: DEFAULT_LATENCY, refusals: [{ message: 'is not a map', path }] };
  const rule: Record<string, unknown> = { ...DEFAULT_LATENCY };
  const refusals: Refusal[] = [];
  for (const [name, { member, form, accepts }] of Object.entries(ARGUMENTS)) {
    const value = raw[name];
    if (value === undefined || value === null) continue;
    if (typeof value === 'number' && accepts(value)) rule[member] = value;
    else refusals.push({ message: `is not ${form}`, path: [...path, name] });
  }
  return { value: rule as unknown as LatencyRule, refusals };
}

/** Arguments of a strategy, with the defaults of absent ones. */
export const strategyArguments = (): Kind<LatencyRule> => fileKind('map of arguments', (raw) => readLatency(raw, []));

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Name that the reference uses for the models without a group. */
const RESERVED_NAME = 'default';

function readGroup(raw: unknown, path: Path): Read<RoutingGroup | null> {
  if (!isJsonObject(raw)) return { value: null, refusals: [{ message: 'is not a map', path }] };
  const { group_name: name, models, routing_strategy: strategy = 'simple-shuffle', model_priorities: priorities } = raw;
  const latency = readLatency(raw['routing_strategy_args'], [...path, 'routing_strategy_args']);
  const refusals: Refusal[] = [...latency.refusals];
  const refuse = (member: string, message: string): void => {
    refusals.push({ message, path: [...path, member] });
  };
  if (!isText(name)) refuse('group_name', 'is not a name');
  else if (name === RESERVED_NAME) refuse('group_name', 'is reserved for models without a group');
  const names = Array.isArray(models) && models.length > 0 && models.every(isText) ? models : null;
  if (names === null) refuse('models', 'is not a list of models');
  const knownStrategy = GROUP_STRATEGIES.find((one) => one === strategy);
  if (knownStrategy === undefined) refuse('routing_strategy', `is not one of ${GROUP_STRATEGIES.join(', ')}`);
  const fault = priorityFault(priorities, knownStrategy, names ?? []);
  if (fault !== null) refuse('model_priorities', fault);
  if (refusals.length > 0 || !isText(name) || names === null || knownStrategy === undefined)
    return { value: null, refusals };
  // `priorityFault` has checked the types.
  const priorityByModel = knownStrategy === 'priority' ? (priorities as Readonly<Record<string, number>>) : {};
  const group = {
    name,
    models: names,
    strategy: knownStrategy,
    latency: latency.value,
    priorities: new Map(Object.entries(priorityByModel)),
  };
  return { value: group, refusals };
}

/** The fault of `model_priorities`, as the rest of a sentence; null without one. */
function priorityFault(raw: unknown, strategy: Strategy | undefined, models: readonly string[]): string | null {
  if (strategy !== 'priority')
    return raw === undefined || raw === null ? null : 'has an effect with the strategy `priority` only';
  if (!isJsonObject(raw)) return 'is not a map of models to numbers';
  const names = Object.keys(raw);
  if (names.length !== models.length || models.some((model) => !Object.hasOwn(raw, model)))
    return 'does not name exactly the models of the group';
  const isPriority = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 1;
  return Object.values(raw).every(isPriority) ? null : 'is not a map of models to whole numbers from 1';
}

/** Groups of models with a strategy. A model is in one group at most. */
export const routingGroups = (): Kind<readonly RoutingGroup[]> =>
  fileKind('list of groups', (raw) => {
    if (!Array.isArray(raw)) return { value: [], refusals: [{ message: 'is not a list' }] };
    const read = raw.map((one: unknown, index) => readGroup(one, [index]));
    const groups = read.flatMap(({ value }) => (value === null ? [] : [value]));
    const refusals = [...read.flatMap((one) => one.refusals), ...repeatedNames(groups)];
    return { value: groups, refusals };
  });

/** Refusals of a group name that is used twice, and of a model that is in two groups. */
function repeatedNames(groups: readonly RoutingGroup[]): readonly Refusal[] {
  const refusals: Refusal[] = [];
  const names = new Set<string>();
  const models = new Set<string>();
  for (const [index, group] of groups.entries()) {
    if (names.has(group.name)) refusals.push({ message: 'is the name of another group', path: [index, 'group_name'] });
    names.add(group.name);
    for (const model of group.models) {
      if (models.has(model))
        refusals.push({ message: `has "${model}", which is named before`, path: [index, 'models'] });
      models.add(model);
    }
  }
  return refusals;
}

/** Weights, at least 0, by model and deployment id. */
export const weightsByModel = (): Kind<Readonly<Record<string, Readonly<Record<string, number>>>>> =>
  fileKind('map of models to maps of deployment ids to numbers', (raw) => {
    if (!isJsonObject(raw)) return { value: {}, refusals: [{ message: 'is not a map of models' }] };
    const refusals = Object.entries(raw).flatMap(([model, weights]): readonly Refusal[] => {
      if (!isJsonObject(weights)) return [{ message: 'is not a map of deployment ids to numbers', path: [model] }];
      const wrong = Object.entries(weights).filter(([, weight]) => !(isFiniteNumber(weight) && weight >= 0));
      return wrong.map(([id]) => ({ message: 'is not a number from 0', path: [model, id] }));
    });
    return { value: raw as Readonly<Record<string, Readonly<Record<string, number>>>>, refusals };
  });

const isFiniteNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Checks of the reference that are accepted without an effect. */
const OTHER_CHECKS = [
  'router_budget_limiting',
  'responses_api_deployment_check',
  'encrypted_content_affinity',
  'forward_client_headers_by_model_group',
] as const;

const CHECK_NAMES: readonly string[] = [...SELECTION_CHECKS, ...OTHER_CHECKS];

function readChecks(raw: unknown, path: Path): Read<readonly SelectionCheck[]> {
  if (!Array.isArray(raw)) return { value: [], refusals: [{ message: 'is not a list', path }] };
  const refusals = raw.flatMap((name: unknown, index): readonly Refusal[] =>
    typeof name === 'string' && CHECK_NAMES.includes(name)
      ? []
      : [{ message: `is not one of ${CHECK_NAMES.join(', ')}`, path: [...path, index] }],
  );
  return { value: SELECTION_CHECKS.filter((name) => raw.includes(name)), refusals };
}

/** Names of optional checks. Those of `OTHER_CHECKS` are left out. */
export const selectionChecks = (): Kind<readonly SelectionCheck[]> =>
  fileKind('list of checks', (raw) => readChecks(raw, []));

/** Optional checks by model. */
export const checksByModel = (): Kind<Readonly<Record<string, readonly SelectionCheck[]>>> =>
  fileKind('map of models to lists of checks', (raw) => {
    if (!isJsonObject(raw)) return { value: {}, refusals: [{ message: 'is not a map of models' }] };
    const read = Object.entries(raw).map(([model, names]) => [model, readChecks(names, [model])] as const);
    return {
      value: Object.fromEntries(read.map(([model, { value }]) => [model, value])),
      refusals: read.flatMap(([, { refusals }]) => refusals),
    };
  });
