import { OpenAmounts } from '../../domain/admission/open-amounts.ts';
import type { Caller } from '../../domain/caller.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Outcome } from '../../domain/chat/chat.ts';
import { attachFailedCall } from '../../domain/chat/failed-call.ts';
import { type Deployment, deploymentsById, type Provider } from '../../domain/chat/provider.ts';
import type { DeploymentSource } from '../../domain/deployments/deployment-source.ts';
import { pricedRow } from '../../domain/deployments/priced-row.ts';
import { isSameUpstream } from '../../domain/deployments/same-upstream.ts';
import { isCommonOrOfTeam } from '../../domain/deployments/team-models.ts';
import { NotFound, Unsupported } from '../../domain/errors.ts';
import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import { CHAT_COMPLETIONS } from '../../domain/inference/endpoint.ts';
import type { KeyOfOwner } from '../../domain/keys/key-of-owner.ts';
import { assertMayCall, mayCall } from '../../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { UnchargedBatch } from '../../domain/upstream-objects/batch-use.ts';
import type { PassThrough } from '../../domain/upstream-objects/pass-through.ts';
import { isReservable, OBJECT_PATHS } from '../../domain/upstream-objects/object-action.ts';
import { mayStore } from '../../domain/upstream-objects/object-families.ts';
import type { ObjectKind } from '../../domain/upstream-objects/upstream-object.ts';
import type { BatchReserver } from '../admission/batch-limits.ts';
import type { EstimatedCall } from '../admission/budgets.ts';
import type { CostExpectations } from '../admission/expected-cost.ts';
import { createOpenCosts } from '../admission/open-costs.ts';
import { batchInputCost, createBatchRecorder } from './batch-recorder.ts';
import { type CallTools, openCall } from './call.ts';
import type { ObjectGateway, RequestedRoute } from '../gateway.ts';
import { checkPrompt, promptGuardOf } from '../guardrails/guarded-prompt.ts';
import { type LineGuards, lineGuardsOf } from '../guardrails/guarded-lines.ts';
import type { Guards } from '../guardrails/guarding.ts';
import type { Clock } from '../../domain/clock.ts';
import type { LabelBudgets } from '../admission/label-budgets.ts';
import { createObjectRoutes } from '../routing/object-routes.ts';
import { callsByTarget } from '../../domain/upstream-objects/batch-calls.ts';
import { inRegion, isInRegion, noDeploymentInRegion, permittedFor, routerOfTeam } from '../routing/permitted-router.ts';
import { providerFor, type Route, type TeamRouter, unknownModel } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';

/** Ports for the costs of objects that are charged when they have ended. */
export interface LaterCostOptions {
  /** Reads the key that owns a stored object. When absent, no key is found. */
  readonly keyOf?: KeyOfOwner;
  /** Expected costs of open objects, which admission counts; none when absent. */
  readonly openAmounts?: OpenAmounts;
  /** Receives objects that are recorded without a cost; none when absent. */
  readonly onUncharged?: (batch: UnchargedBatch) => void;
}

/** Gateway parts that calls about stored objects use. */
interface PassingTools extends LaterCostOptions {
  readonly deployments: Pick<DeploymentSource, 'current'>;
  readonly providers: readonly Provider[];
  readonly routeOf: TeamRouter;
  readonly selection: Pick<Selection, 'of'>;
  /** Replaces a configured alias by its model. Returns other names unchanged. */
  readonly targetOf: (name: string) => string;
  readonly tools: CallTools;
  readonly catalog: () => CatalogSnapshot;
  /** A cost with the discount and the margin of its provider. */
  readonly adjusted: (cost: Usd, provider: string) => Usd;
  /** Reserves the tokens of a batch in the daily limits of tokens. */
  readonly reserveBatch: BatchReserver;
  readonly expectations: CostExpectations;
  readonly reservesCosts?: boolean;
  readonly guards: Guards | null;
  readonly labelBudgets?: Pick<LabelBudgets, 'of'>;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
}

/** Creates an index of the current deployments by id. It is rebuilt when the list is replaced. */
function createDeploymentIndex(source: Pick<DeploymentSource, 'current'>): () => ReadonlyMap<string, Deployment> {
  let indexed = source.current();
  let index = deploymentsById(indexed);
  return () => {
    const current = source.current();
    if (current !== indexed) {
      indexed = current;
      index = deploymentsById(current);
    }
    return index;
  };
}

/** Creates the calls about stored objects: select, admit, forward, record (ADR 0025). */
export function createPassing(options: PassingTools): ObjectGateway {
  const { deployments, providers, routeOf, targetOf, tools, catalog, adjusted, reserveBatch, keyOf, guards } = options;
  const byId = createDeploymentIndex(deployments);
  const objectRoutes = createObjectRoutes(options);
  const openCosts = createOpenCosts({
    amounts: options.openAmounts ?? new OpenAmounts(),
    budgets: tools.budgets,
    expectations: options.expectations,
    deployment: (id) => byId().get(id) ?? null,
    batchCost(deployment, inputTokens) {
      const cost = batchInputCost(pricedRow(deployment, catalog()), inputTokens);
      return cost === null ? null : adjusted(cost, deployment.provider);
    },
    keyOf: keyOf ?? (() => Promise.resolve(null)),
    reservesCosts: options.reservesCosts ?? true,
    clock: options.clock,
  });
  const storesObjects = ({ deployment, provider }: Route, kind: ObjectKind): boolean =>
    provider.pass !== undefined && mayStore(deployment.provider, kind);

  /** Price of a quantity; null where it is not known. */
  const priceOf = (deployment: Deployment, measured: BilledQuantity | undefined): Usd | null =>
    measured === undefined ? null : tools.price(deployment, { usage: null, measured });

  /** Cost of a call that is not billed later: that of its answer where the answer is billed, else zero. */
  const costOf = (deployment: Deployment, { action, measured }: PassThrough, { failure }: Outcome): Usd | null =>
    action.billed === 'created' && failure === null ? priceOf(deployment, measured?.()) : ZERO_USD;

  /** Deployment of a model at the account of `deployment`; undefined for none. */
  function deploymentOf(key: Caller['key'], deployment: Deployment, model: string): Deployment | undefined {
    const atUpstream = permittedFor(routeOf, key)
      .all(model)
      .filter((one) => isSameUpstream(one.deployment, deployment));
    const route = atUpstream.find((one) => objectRoutes.isUnreserved(key, one.deployment)) ?? atUpstream[0];
    return route?.deployment;
  }

  /** The guardrails of the lines of a batch at the account of `deployment`; null where none can run. */
  const lineGuards = (caller: Caller, deployment: Deployment, sent: PassThrough['labels']): LineGuards | null =>
    lineGuardsOf(guards, {
      caller,
      labels: withKeyTags(caller.key, sent === undefined ? {} : { labels: sent }).labels,
      ofModel: (model) => deploymentOf(caller.key, deployment, model)?.guardrails ?? [],
    });

  return {
    async placeFor(caller, requested) {
      const { key } = caller;
      const { kind, model, provider } = requested;
      const customer = await objectRoutes.regionOf(key, requested.labels);
      if (model !== null) {
        assertMayCall(key, model);
        const found = objectRoutes.routeOf(caller, model, customer, requested.labels);
        if (found.model !== model) assertMayCall(key, found.model);
        if (found.route === null) throw unknownModel(OBJECT_PATHS[kind], found.model);
        if (!storesObjects(found.route, kind)) throw noStorage({ ...requested, model: found.model });
        return { deployment: found.route.deployment, model: found.model };
      }
      const isUsable = (one: Route): boolean =>
        storesObjects(one, kind) && (provider ?? one.deployment.provider) === one.deployment.provider;
      const callable = deployments
        .current()
        .filter((one) => isCommonOrOfTeam(key, one) && mayCall(key, one.modelGroup));
      const models = [...new Set(callable.map(({ modelGroup }) => modelGroup))];
      const permitted = permittedFor(routeOf, key);
      const usable = models.flatMap((name) => permitted.all(name)).filter(isUsable);
      const [any] = usable;
      if (any === undefined) throw noStorage(requested);
      const within = customer === null ? usable : usable.filter((one) => isInRegion(one.deployment, customer.region));
      const [first] = within;
      if (customer !== null && first === undefined)
        throw noDeploymentInRegion(any.deployment.modelGroup, customer.region);
      for (const name of models) {
        const found = objectRoutes
          .select(caller, inRegion(permitted, customer?.region), name, requested.labels)
          .all(name)
          .find(isUsable);
        if (found !== undefined) return { deployment: found.deployment, model: name };
      }
      objectRoutes.assertUnreserved(key, (first ?? any).deployment);
      throw noStorage(requested);
    },
    deployment: (id) => byId().get(id) ?? null,
    deploymentsAt(id) {
      const deployment = byId().get(id);
      if (deployment === undefined) return [id];
      const others = deployments.current().filter((one) => one.id !== id && isSameUpstream(one, deployment));
      return [id, ...others.map((one) => one.id)];
    },
    openCosts,
    ...createBatchRecorder(tools, {
      release: openCosts.release,
      onUncharged: options.onUncharged,
      catalog,
      adjusted,
      keyOf,
      targetOf,
      deployments: () => deployments.current(),
      deploymentsOf: (key, name) =>
        routerOfTeam(routeOf, key)
          .all(name)
          .map(({ deployment }) => deployment),
    }),
    upstreamModelAt({ key }, deployment, model, kind = 'file') {
      assertMayCall(key, model);
      const routes = permittedFor(routeOf, key).all(model);
      if (routes.length === 0) throw unknownModel(OBJECT_PATHS[kind], model);
      const found = deploymentOf(key, deployment, model);
      if (found !== undefined) {
        objectRoutes.assertUnreserved(key, found);
        return found.upstreamModel;
      }
      const advice = kind === 'file' ? ' Name the model of its lines when you upload the file.' : '';
      const message = `${OBJECT_PATHS[kind]}: The model ${model} is not at the upstream of this file.${advice}`;
      throw new NotFound('model', model, message);
    },
    lineGuardrails: (caller, { deployment, labels }) => {
      const lines = lineGuards(caller, deployment, labels);
      return (model, isEmbedding) => lines?.namesFor(model, isEmbedding) ?? [];
    },
    async pass(caller, deployment, request, signal) {
      const { action, callId, parent } = request;
      // Limits, budgets and the record are those of the model of an alias.
      const model = targetOf(request.model);
      const calls = request.calls && callsByTarget(request.calls, targetOf);
      const { labels } = withKeyTags(caller.key, request);
      const provider = providerFor(deployment, providers);
      if (provider.pass === undefined) throw noStorage({ kind: action.kind, model, provider: null });
      const call = openCall(tools, {
        caller,
        request: {
          endpoint: { operation: action.name, callType: action.callType },
          model,
          body: {},
          callId,
          parent,
          ...(labels === undefined ? {} : { labels }),
        },
        deployment,
        signal,
        routingUse: action.createsObject ? 'request' : 'nothing',
        ...(action.billed === 'later' ? {} : { costOf: (outcome) => costOf(deployment, request, outcome) }),
        // The upstream does the work although its client has left.
        ...(action.billed === 'created'
          ? { abortedCost: () => priceOf(deployment, request.measured?.() ?? request.expected) }
          : {}),
      });
      const { guardrails } = deployment;
      const { prompt } = request;
      const guard = promptGuardOf(guards, caller, {
        model,
        ...(prompt === undefined ? {} : { prompt }),
        ...(labels === undefined ? {} : { labels }),
        ...(guardrails === undefined ? {} : { guardrails }),
      });
      if (guard !== null) call.setGuard(guard);
      const { body } = request;
      const hasLines = body.kind === 'form' && body.rename !== undefined;
      const lines = hasLines ? lineGuards(caller, deployment, request.labels) : null;
      if (lines !== null) call.setGuard(lines.recorded);
      const appliedNames = (): readonly string[] => guard?.applied ?? lines?.recorded.applied ?? [];
      try {
        if (isReservable(action)) objectRoutes.assertUnreserved(caller.key, deployment);
        if (action.createsObject) {
          const customer = await objectRoutes.regionOf(caller.key, labels);
          if (customer !== null && !isInRegion(deployment, customer.region))
            throw noDeploymentInRegion(model, customer.region);
        }
        if (action.billed === 'created') {
          const cost = priceOf(deployment, request.expected) ?? ZERO_USD;
          await call.reserve({ deployment, request: sentRequest(request), cost });
          await call.limit({ model });
        } else if (action.createsObject) {
          // A batch is charged when it has ended. Its expected cost is held from its creation on.
          const cost = openCosts.ofBatch(deployment.id, request.calls);
          const checked = cost === ZERO_USD ? undefined : { deployment, request: null, model, cost };
          let limitFraction: number | undefined;
          await tools.budgets.check(caller, checked, labels, (fraction) => {
            limitFraction = fraction;
          });
          await call.limit({ model, calls, limitFraction });
          const batch = calls && (await reserveBatch(caller, calls, labels));
          if (batch) call.setBatch(batch);
        }
        const running = { callId: call.callId, traceId: call.traceId, signal };
        const prompted = guard === null ? request : await checkPrompt(guard, request, running);
        const sent = lines === null || !hasLines ? prompted : { ...prompted, body: lines.checked(body, running) };
        if (action.billed === 'created') call.sent();
        const answered = call.answered(await provider.pass(deployment, { ...sent, owner: caller.keyHash }, signal));
        const applied = appliedNames();
        return guard === null && applied.length === 0 ? answered : answered.guarded(applied);
      } catch (failure) {
        attachFailedCall(failure, {
          callId: call.callId,
          timeoutSeconds: deployment.timeoutSeconds,
          ...(guard === null && lines === null ? {} : { guardrails: appliedNames() }),
        });
        call.failed(failure);
        throw failure;
      }
    },
  };
}

/** A request as budgets estimate it. Only its labels count, because its cost is known. */
const sentRequest = ({ labels }: PassThrough): EstimatedCall['request'] => ({
  endpoint: CHAT_COMPLETIONS,
  body: {},
  bytes: new Uint8Array(),
  ...(labels === undefined ? {} : { labels }),
});

const PLURALS = {
  file: 'files',
  batch: 'batches',
  response: 'responses',
  video: 'videos',
  container: 'containers',
  fine_tuning_job: 'fine-tuning jobs',
  eval: 'evals',
  eval_run: 'eval runs',
  skill: 'skills',
} as const;

function noStorage({ kind, model, provider }: RequestedRoute): Unsupported {
  const path = OBJECT_PATHS[kind];
  const plural = PLURALS[kind];
  if (model !== null) return new Unsupported(`${path}: The provider of the model ${model} does not store ${plural}.`);
  if (provider !== null)
    return new Unsupported(`${path}: No model of the provider ${provider} that this key may call stores ${plural}.`);
  return new Unsupported(`${path}: No model that this key may call is at a provider that stores ${plural}.`);
}
