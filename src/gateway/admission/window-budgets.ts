import type { JsonObject } from '../../domain/json-object.ts';
import {
  type BudgetWindow,
  type WindowScope,
  windowCounter,
  budgetWindowOf,
} from '../../domain/budgets/budget-window.ts';
import {
  NO_PROVIDER_BUDGETS,
  type ProviderBudgets,
  readRouteBudget,
  type RouteBudget,
} from '../../domain/budgets/route-budget.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { Usd } from '../../domain/money.ts';
import type { LabelBudget } from './label-budgets.ts';

/** A budget in whose window a call counts. */
export interface WindowBudget {
  readonly scope: WindowScope;
  /** Provider, deployment, or owner of the budget of a model; `global` for all calls. */
  readonly owner: string;
  readonly window: BudgetWindow;
  readonly counter: string;
  readonly limit: Usd;
  readonly duration: string | null;
  /** Text of a refusal; window and reset time are added later. `spent` and `limit` are amounts in USD. */
  readonly text: (spent: string, limit: string) => string;
}

/** The budgets in whose windows a call counts. */
export interface CallWindows {
  /** Budgets of key, user and end user for the model. They are checked before the others. */
  readonly early: readonly WindowBudget[];
  /** Budget of the team for the model. */
  readonly team: readonly WindowBudget[];
  /** Budget of all calls. */
  readonly all: readonly WindowBudget[];
  /** Budgets of provider and deployment. */
  readonly route: readonly WindowBudget[];
}

/** Target of a call: the public name of its model, and its deployment. */
export interface RoutedModel {
  readonly deployment: Deployment;
  readonly model: string;
}

const NONE: readonly WindowBudget[] = Object.freeze([]);
export const NO_WINDOWS: CallWindows = Object.freeze({ early: NONE, team: NONE, all: NONE, route: NONE });

/** Whether a scope is a provider or a deployment. Then another deployment of the model may have budget left. */
export const isOfRoute = (scope: string): boolean => scope === 'provider' || scope === 'deployment';

/** Finds the budgets of single models, providers, deployments and all calls that a call counts in. */
export interface WindowBudgets {
  /** `NO_WINDOWS` for a call without such budgets. Without a target, only the budget of all calls. */
  of(key: VirtualKey | null, at: RoutedModel | undefined, labels: readonly LabelBudget[]): CallWindows;
  /** Only the budgets of a key for a model. */
  ofKey(key: VirtualKey, model: string): readonly WindowBudget[];
  /** Only the budgets of the provider and the deployment. */
  ofRoute(deployment: Deployment): readonly WindowBudget[];
}

export function createWindowBudgets(
  now: () => Date,
  providers: () => ProviderBudgets = () => NO_PROVIDER_BUDGETS,
  globalBudget: () => RouteBudget | null = () => null,
): WindowBudgets {
  /** A list with the window of a budget; empty without a limit, and for a negative limit. */
  function windowBudgetIn(
    { limit, duration }: RouteBudget,
    about: Pick<WindowBudget, 'scope' | 'owner' | 'text'> & { readonly within?: readonly string[] },
  ): readonly WindowBudget[] {
    if (limit === null || limit < 0n) return NONE;
    const { scope, owner, text, within = [] } = about;
    const ids = scope === 'global' ? [] : [owner, ...within];
    const window = budgetWindowOf({ scope, ids, duration }, now());
    return [{ scope, owner, window, counter: windowCounter(window), limit, duration, text }];
  }

  function ofModel(
    budgets: object | null | undefined,
    {
      scope,
      owner,
      createdAt,
      subject,
      model,
    }: Pick<WindowBudget, 'scope' | 'owner'> & {
      /** Creation of an owner whose id may be used again: a later owner with the id has other windows. */
      readonly createdAt?: Date;
      readonly subject: string;
      readonly model: string;
    },
  ): readonly WindowBudget[] {
    if (budgets === null || budgets === undefined || !Object.hasOwn(budgets, model)) return NONE;
    const budget = readRouteBudget((budgets as JsonObject)[model]);
    if (budget === null) return NONE;
    return windowBudgetIn(budget, {
      scope,
      owner,
      within: createdAt === undefined ? [model] : [model, String(createdAt.getTime())],
      text: () => `${subject}, exceeded budget for model=${model}`,
    });
  }

  function ofKey(key: VirtualKey, model: string): readonly WindowBudget[] {
    const own = key.settings.modelMaxBudget;
    if (own === undefined || !Object.hasOwn(own, model)) return NONE;
    // `readRouteBudget` reads the names of the reference.
    const { budgetLimit: budget_limit = null, timePeriod: time_period = null } = own[model] ?? {};
    const subject = `LiteLLM Virtual Key: ${key.hash}, key_alias: ${key.alias ?? 'None'}`;
    const about = { scope: 'model_per_key', owner: key.hash, subject, model } as const;
    return ofModel({ [model]: { budget_limit, time_period } }, about);
  }

  function ofEndUsers(labels: readonly LabelBudget[], model: string): readonly WindowBudget[] {
    return labels.flatMap(({ scope, id, modelMaxBudget }) =>
      scope === 'end_user'
        ? ofModel(modelMaxBudget, { scope: 'model_per_end_user', owner: id, subject: `LiteLLM End User: ${id}`, model })
        : NONE,
    );
  }

  function ofUser({ owners }: VirtualKey, model: string): readonly WindowBudget[] {
    const user = owners?.user;
    if (!user?.modelMaxBudget) return NONE;
    const { id, createdAt } = user;
    const about = { scope: 'model_per_user', owner: id, createdAt, subject: `LiteLLM User: ${id}`, model } as const;
    return ofModel(user.modelMaxBudget, about);
  }

  /** The budget of a team for a model. It applies to keys without a budget for the model. */
  function ofTeam({ owners }: VirtualKey, model: string): readonly WindowBudget[] {
    const team = owners?.team;
    const budgets = team?.metadata['model_max_budget'];
    if (!team || typeof budgets !== 'object') return NONE;
    const { id, createdAt } = team;
    const about = { scope: 'model_per_team', owner: id, createdAt, subject: `LiteLLM Team: ${id}`, model } as const;
    return ofModel(budgets, about);
  }

  function ofRoute(deployment: Deployment): readonly WindowBudget[] {
    const provider = providers().get(deployment.provider);
    if (provider === undefined && deployment.budget === undefined) return NONE;
    const { id, modelGroup, upstreamModel } = deployment;
    return [
      ...(provider === undefined
        ? NONE
        : windowBudgetIn(provider, {
            scope: 'provider',
            owner: deployment.provider,
            text: (spent, limit) => `Exceeded budget for provider ${deployment.provider}: ${spent} >= ${limit}`,
          })),
      ...(deployment.budget === undefined
        ? NONE
        : windowBudgetIn(deployment.budget, {
            scope: 'deployment',
            owner: id,
            text: (spent, limit) =>
              `Exceeded budget for deployment model_name: ${modelGroup}, litellm_params.model: ${deployment.provider}/${upstreamModel}, model_id: ${id}: ${spent} >= ${limit}`,
          })),
    ];
  }

  function ofAll(): readonly WindowBudget[] {
    const budget = globalBudget();
    if (budget === null) return NONE;
    const text: WindowBudget['text'] = (spent, limit) =>
      `Budget has been exceeded! Current cost: ${spent}, Max budget: ${limit}`;
    return windowBudgetIn(budget, { scope: 'global', owner: 'global', text });
  }

  return {
    ofKey,
    ofRoute,
    of(key, at, labels) {
      const all = ofAll();
      if (at === undefined) return all.length === 0 ? NO_WINDOWS : { ...NO_WINDOWS, all };
      const { deployment, model } = at;
      const route = ofRoute(deployment);
      const ofLabels = labels.length === 0 ? NONE : ofEndUsers(labels, model);
      if (key === null)
        return route.length + ofLabels.length + all.length === 0
          ? NO_WINDOWS
          : { early: ofLabels, team: NONE, all, route };
      const own = ofKey(key, model);
      const user = ofUser(key, model);
      const team = own.length === 0 ? ofTeam(key, model) : NONE;
      if (own.length + user.length + ofLabels.length + team.length + all.length + route.length === 0) return NO_WINDOWS;
      return { early: [...own, ...user, ...ofLabels], team, all, route };
    },
  };
}
