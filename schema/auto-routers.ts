import { listAutoRouters, listRoutedCalls, type VisibleRouter } from '../resolvers/auto-routers.ts';
import { TIERS, type Tier } from '../src/domain/auto-routers/tiers.ts';
import type { RoutedCalls } from '../src/domain/auto-routers/auto-router-store.ts';
import type { RoutingDecision } from '../src/domain/auto-routers/routing-decision.ts';
import { usdText } from '../src/domain/money.ts';
import { builder } from './base/builder.ts';
import { SpendRowType } from './base/refs.ts';

/** Assumed numbers of routers and of groups of their calls, for the cost of a query. */
const USUAL_ROUTERS = 10;
const USUAL_GROUPS = 50;

const TierType = builder.enumType('RouterTier', {
  description: 'Tiers of an auto router, from the cheapest to the most capable.',
  values: Object.fromEntries(TIERS.map((tier) => [tier, { value: tier, description: `Tier ${tier}.` }])) as Record<
    Tier,
    { readonly value: Tier; readonly description: string }
  >,
});

const TierModelsType = builder.objectRef<VisibleRouter['tiers'][number]>('AutoRouterTier').implement({
  description: 'A tier of an auto router.',
  fields: (t) => ({
    tier: t.expose('tier', { type: TierType, description: 'The tier.' }),
    label: t.exposeString('label', { nullable: true, description: 'Display name. Null when none is configured.' }),
    models: t.stringList({
      description: 'Public names of the models of the tier. A call is sent to one of them.',
      resolve: ({ models }) => [...models],
    }),
  }),
});

const AutoRouterType = builder.objectRef<VisibleRouter>('AutoRouter').implement({
  description: 'A model that selects another model for each call.',
  fields: (t) => ({
    deploymentId: t.exposeID('id', { description: 'Local id of the deployment that is the router.' }),
    model: t.exposeString('name', { description: 'Public model name of the router.' }),
    classifier: t.exposeString('classifier', {
      description: 'How the router selects a tier (`classifier_type`), such as `heuristic` or `capability`.',
    }),
    tiers: t.field({
      type: [TierModelsType],
      description: 'Tiers of the router, the cheapest first.',
      resolve: ({ tiers }) => [...tiers],
    }),
    defaultModel: t.exposeString('defaultModel', {
      nullable: true,
      description: 'Public name of the model that is called when no tier can be called. Null for none.',
    }),
    classifierModel: t.exposeString('judge', {
      nullable: true,
      description: 'Public name of the model that the classifier asks. Null for a classifier that asks no model.',
    }),
    keepsSessions: t.exposeBoolean('hasAffinity', {
      description: 'Whether later calls of a session keep the decision of its first call.',
    }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
  }),
});

const RoutedCallsType = builder.objectRef<RoutedCalls>('RoutedCalls').implement({
  description: 'Calls of one auto router with the same tier, cause and model.',
  fields: (t) => ({
    routerId: t.exposeID('routerId', { description: 'Local id of the deployment of the router.' }),
    router: t.exposeString('router', { description: 'Public model name of the router at the time of the calls.' }),
    tier: t.expose('tier', { type: TierType, nullable: true, description: 'Tier. Null for the default model.' }),
    cause: t.exposeString('cause', { description: 'Why the tier was selected, such as `llm_classifier`.' }),
    model: t.exposeString('model', { description: 'Public name of the selected model.' }),
    calls: t.exposeInt('calls', { description: 'Number of calls.' }),
    failures: t.exposeInt('failures', { description: 'Number of failed calls.' }),
    costUsd: t.field({
      type: 'Decimal',
      description: 'Cost of the calls in USD, without the calls of classifiers to models. Unknown costs count as zero.',
      resolve: ({ cost }) => usdText(cost),
    }),
  }),
});

const RoutingDecisionType = builder.objectRef<RoutingDecision>('RoutingDecision').implement({
  description: 'Decision of an auto router for one call.',
  fields: (t) => ({
    router: t.exposeString('router', { description: 'Public model name of the router.' }),
    classifier: t.exposeString('classifier', { description: 'Classifier of the router.' }),
    tier: t.expose('tier', { type: TierType, nullable: true, description: 'Tier. Null for the default model.' }),
    model: t.exposeString('model', { description: 'Public name of the selected model.' }),
    cause: t.exposeString('cause', { description: 'Why the tier was selected.' }),
    signals: t.stringList({
      description: 'What the classifier found in the call, such as `keyword_rule:COMPLEX` or `llm:SIMPLE`.',
      resolve: ({ signals }) => [...signals],
    }),
    score: t.float({
      nullable: true,
      description: 'Score of the heuristic. Null when the heuristic did not decide.',
      resolve: ({ score }) => score ?? null,
    }),
    probability: t.float({
      nullable: true,
      description: 'Forecast probability that the tier solves the task. Null without a forecast.',
      resolve: ({ probability }) => probability ?? null,
    }),
    isEscalated: t.boolean({
      description: 'Whether an escalation keyword raised the tier.',
      resolve: ({ escalated }) => escalated === true,
    }),
    durationMs: t.exposeFloat('durationMs', { description: 'Duration of the decision, in milliseconds.' }),
  }),
});

builder.objectField(SpendRowType, 'routing', (t) =>
  t.field({
    type: RoutingDecisionType,
    nullable: true,
    description: 'Decision of the auto router that selected the model. Null for other calls.',
    resolve: ({ routing }) => routing ?? null,
  }),
);

builder.queryFields((t) => ({
  autoRouters: t.field({
    type: [AutoRouterType],
    nullable: true,
    complexity: { field: 1, multiplier: USUAL_ROUTERS },
    description:
      'Auto routers: those of the configuration file, then stored ones. For proxy administrators with full or read-only access.',
    resolve: (_root, _args, { scope }) => listAutoRouters(scope, undefined),
  }),
  routedCalls: t.field({
    type: [RoutedCallsType],
    nullable: true,
    complexity: { field: 20, multiplier: USUAL_GROUPS },
    args: {
      from: t.arg({ type: 'DateTime', description: 'Earliest start, inclusive; 30 days before `to` when absent.' }),
      to: t.arg({ type: 'DateTime', description: 'Latest start, exclusive; now when absent.' }),
    },
    description:
      'Calls of auto routers by router, tier, cause and model, the most calls first, at most 1,000 groups. Expensive: reads all routed calls of the period. For proxy administrators with full or read-only access.',
    resolve: (_root, { from, to }, { scope }) => listRoutedCalls(scope, { from: from ?? null, to: to ?? null }),
  }),
}));
