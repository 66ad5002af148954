import type { Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { DomainError } from '../domain/errors.ts';
import {
  type Fallback,
  isTooLong,
  mayHelpAgain,
  MOST_FALLBACKS,
  type Retries,
  waitBefore,
} from '../domain/inference/retries.ts';
import { mayCall, notAvailable, type VirtualKey } from '../domain/keys/virtual-key.ts';
import type { Place } from './books.ts';
import type { Estimated } from './budgets.ts';
import type { OpenCall } from './call.ts';
import type { GatewayCall } from './gateway.ts';
import { type Route, type Router, unknownModel } from './route.ts';

/** What to ask again needs of the gateway around it. */
interface RetryTools {
  readonly routeOf: Router;
  /** A deployment as this request has it called. */
  readonly meant: (deployment: Deployment, request: ModelRequest) => Deployment;
  /** Reserves the cost of a fallback, in place of what failed. Gives why that is not possible; null when it is. */
  readonly reserve: (call: OpenCall, at: Estimated) => Promise<DomainError | null>;
  /** Waits. Rejects with the signal's reason when it fires first. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Whether a failure tells what was tried. */
  readonly tellsTries: boolean;
}

/** A call that is admitted, and where it goes first. */
interface Asked {
  readonly request: ModelRequest;
  readonly route: Route;
  readonly signal: AbortSignal;
}

/** Asks again, and others, before a first byte has come. */
export interface Retrying {
  /** Refuses models a caller wants to fall back to and may not call, or that are not there. */
  assertCallable(key: VirtualKey | null, request: ModelRequest, retries: Retries): void;
  /** Fails as the first model failed last, or for want of an allowance where that alone kept others from being asked. */
  send(call: OpenCall, asked: Asked, retries: Retries): Promise<GatewayCall>;
}

export function createRetrying({ routeOf, meant, reserve, pause, tellsTries }: RetryTools): Retrying {
  const groupOf = (name: string): string => routeOf.byId(name)?.deployment.modelGroup ?? name;

  /** Where a fallback is asked first, and where else; the name of a model, or of one deployment. */
  function targetOf(name: string, { deploymentId }: ModelRequest): { route: Route; others: readonly Route[] } | null {
    if (deploymentId !== undefined) {
      // What the request goes on from is kept at one upstream: wherever it is asked, that has to be it.
      const pinned = routeOf(groupOf(name), deploymentId);
      return pinned && { route: pinned, others: [] };
    }
    const one = routeOf.byId(name);
    if (one !== null) return { route: one, others: [] };
    const route = routeOf(name);
    return route && { route, others: routeOf.all(name) };
  }

  return {
    assertCallable(key, { endpoint }, { fallbacks, longer }) {
      for (const name of [...fallbacks.map(({ model }) => model), ...longer.values()]) {
        if (!mayCall(key, groupOf(name))) throw notAvailable(name);
        if (routeOf.byId(name) === null && routeOf.all(name).length === 0) throw unknownModel(endpoint.path, name);
      }
    },
    async send(call, { request, route, signal }, { again, fallbacks, longer }) {
      const made = { retries: 0, fallbacks: 0 };
      const mostFallbacks = fallbacks.length + longer.size === 0 ? null : MOST_FALLBACKS;
      let at: Place = { request, deployment: route.deployment };

      /** Asks one model until it answers; fails as it failed last. */
      async function ask(asked: ModelRequest, first: Route, others: readonly Route[]): Promise<Exchange> {
        const been = new Set<string>();
        let next = first;
        for (let nth = 0; ; nth += 1) {
          const { provider } = next;
          const deployment = meant(next.deployment, asked);
          at = { request: asked, deployment };
          been.add(deployment.id);
          try {
            return await provider.send(deployment, asked, signal);
          } catch (failure) {
            const fresh = others.find((one) => !been.has(one.deployment.id));
            if (nth === again || signal.aborted || !mayHelpAgain(failure, { elsewhere: fresh !== undefined })) {
              if (tellsTries && again > 0 && failure instanceof DomainError)
                failure.message += ` LiteLLM Retried: ${nth} times, LiteLLM Max Retries: ${again}`;
              throw failure;
            }
            // Whoever has not refused yet need not be waited for.
            if (fresh === undefined) await pause(waitBefore(failure, nth), signal);
            next = fresh ?? others.find((one) => one.deployment.id !== deployment.id) ?? next;
            made.retries += 1;
            call.moved({ request: asked, deployment: meant(next.deployment, asked) }, failure);
          }
        }
      }

      const answered = (exchange: Exchange): GatewayCall => call.answered(exchange, { ...made, mostFallbacks });
      const failures: DomainError[] = [];
      const note = (failure: unknown): DomainError => {
        if (signal.aborted || !(failure instanceof DomainError)) throw failure;
        failures.push(failure);
        return failure;
      };

      const pinned = request.deploymentId !== undefined;
      try {
        return answered(await ask(request, route, pinned ? [] : routeOf.all(request.model)));
      } catch (failure) {
        note(failure);
      }
      const [first] = failures;
      if (first === undefined) throw new TypeError('A call failed without a failure.');
      const failedAt = at;
      const targets = fallbacksAfter(first, request.model, { fallbacks, longer });
      if (targets.length === 0) throw first;
      let unpaid: DomainError | null = null;
      for (const fallback of targets) {
        try {
          const asked = asFallback(request, fallback, groupOf(fallback.model));
          const target = targetOf(fallback.model, request);
          if (target === null) throw unknownModel(request.endpoint.path, fallback.model);
          unpaid = await reserve(call, { deployment: target.route.deployment, request: asked });
          if (unpaid !== null) continue;
          const last = failures.at(-1);
          call.moved({ request: asked, deployment: meant(target.route.deployment, asked) }, last);
          made.fallbacks += 1;
          return answered(await ask(asked, target.route, target.others));
        } catch (failure) {
          note(failure);
        }
      }
      const last = failures.at(-1);
      call.gaveUp(failedAt, last);
      // Others would have been asked, had they been paid for.
      if (made.fallbacks === 0 && unpaid !== null) throw unpaid;
      if (tellsTries) first.message += routerWords(request.model, targets, last);
      throw first;
    },
  };
}

/** The request as a fallback is asked it. A caller's own key is for the model it named first. */
function asFallback(request: ModelRequest, { members }: Fallback, model: string): ModelRequest {
  const asked = { ...request, model, credentials: null };
  if (Object.keys(members).length === 0) return asked;
  const replaced = { ...request.replaced, ...members };
  return { ...asked, body: { ...request.body, ...members }, replaced };
}

function fallbacksAfter(
  failure: DomainError,
  model: string,
  { fallbacks, longer }: Pick<Retries, 'fallbacks' | 'longer'>,
): readonly Fallback[] {
  const roomier = isTooLong(failure) ? longer.get(model) : undefined;
  const targets = roomier === undefined ? fallbacks : [{ model: roomier, members: {} }, ...fallbacks];
  return targets.slice(0, MOST_FALLBACKS);
}

/** What clients of the reference are told of fallbacks that failed too. */
function routerWords(model: string, targets: readonly Fallback[], last: DomainError | undefined): string {
  const names = JSON.stringify(targets.map((target) => target.model));
  const words = `. Received Model Group=${model}\nAvailable Model Group Fallbacks=${names}`;
  return last === undefined ? words : `${words}\nError doing the fallback: ${last.message}`;
}
