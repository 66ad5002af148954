import type { ByteStream } from '../../src/domain/bytes.ts';
import { withKeyTags } from '../../src/domain/calls/call-tags.ts';
import { withTokenCustomer } from '../../src/domain/calls/token-customer.ts';
import type { FollowUp, ModelRequest } from '../../src/domain/chat/chat.ts';
import type { JsonObject } from '../../src/domain/json-object.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { withoutContent, withoutPendingUsage } from '../../src/domain/upstream-objects/pending-usage.ts';
import { isUpstreamId, mayChange } from '../../src/domain/upstream-objects/shown-object.ts';
import { objectId, type UpstreamObject } from '../../src/domain/upstream-objects/upstream-object.ts';
import type { GatewayCall } from '../../src/gateway/gateway.ts';
import { objectOwnerOf } from './object-owners.ts';
import { callerOf } from './operation.ts';
import type { ResponsePlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { storeState } from './object-states.ts';

type ResponseScope = Scope<ResponsePlatform>;

/** Observes the states of one response in the background. */
export interface BackgroundObserver {
  readonly onBackground: NonNullable<FollowUp['onBackground']>;
  /** The call, after which a response that has not ended is stored, so that its cost is recorded later. */
  observed(call: GatewayCall): GatewayCall;
}

/**
 * Stores a response that its upstream continues in the background, for its later charge: after the answer, or when a
 * stream ends before the response. Null for a request without `background`.
 */
export function backgroundObserver(scope: ResponseScope, request: ModelRequest): BackgroundObserver | null {
  if (request.body['background'] !== true) return null;
  let latest: { readonly deploymentId: string; readonly response: JsonObject } | null = null;

  function store({ modelGroup }: GatewayCall): void {
    if (latest === null || !mayChange('response', latest.response)) return;
    const row = rowOf(scope, request, { ...latest, modelGroup });
    if (row !== null) {
      scope.platform.gateway.openCosts.hold(callerOf(scope).key, row);
      scope.platform.objectQueue.enqueue(row);
    }
    latest = null;
  }

  return {
    onBackground(deploymentId, response) {
      const { id } = response;
      if (typeof id !== 'string' || !isUpstreamId(id)) return false;
      latest = { deploymentId, response };
      return true;
    },
    observed(call) {
      if (call.exchange.streaming) return call.translated((stream) => withEnd(stream, () => store(call)));
      store(call);
      return call;
    },
  };
}

/** The row of a response; null for an id that cannot be used. Its texts are not stored. */
function rowOf(
  scope: ResponseScope,
  request: ModelRequest,
  made: { readonly deploymentId: string; readonly response: JsonObject; readonly modelGroup: string },
): UpstreamObject | null {
  const { deploymentId, response, modelGroup } = made;
  const { id: upstreamId } = response;
  if (typeof upstreamId !== 'string' || !isUpstreamId(upstreamId)) return null;
  const { ids, clock, gateway } = scope.platform;
  const { labels: sent } = request;
  const caller = callerOf(scope);
  const userId = nullIfBlank(caller.userId);
  const { labels } = withTokenCustomer(caller.key, withKeyTags(caller.key, sent === undefined ? {} : { labels: sent }));
  return {
    id: objectId('response', ids.uuid()),
    kind: 'response',
    deploymentId,
    upstreamId,
    owner: objectOwnerOf(caller),
    createdAt: clock.now(),
    purpose: null,
    shown: withoutContent(response),
    ...(userId === null ? {} : { userId }),
    ...(labels === undefined ? {} : { labels }),
    calls: { [modelGroup]: { requests: 0, tokens: 0 } },
    openCost: gateway.openCosts.ofRequest(deploymentId, request),
  };
}

/** A stream that calls `ended` once, after its end, its failure or its cancellation. */
function withEnd(source: ByteStream, ended: () => void): ByteStream {
  return {
    pipe: (sink) =>
      source.pipe({
        chunk: (bytes) => sink.chunk(bytes),
        done() {
          sink.done();
          ended();
        },
        fail(error) {
          sink.fail(error);
          ended();
        },
      }),
    resume: () => source.resume(),
    cancel(failure) {
      source.cancel(failure);
      ended();
    },
  };
}

/** The stored row of a background response that has not ended; null for any other response. */
export async function openBackgroundResponse(
  { platform: { objectQueue, stores } }: ResponseScope,
  { deploymentId, upstreamId }: Pick<UpstreamObject, 'deploymentId' | 'upstreamId'>,
): Promise<UpstreamObject | null> {
  await objectQueue.caughtUp();
  const [row = null] = await stores.upstreamObjects.findAtUpstream(deploymentId, [upstreamId]);
  return row?.kind === 'response' && mayChange(row.kind, row.shown) ? row : null;
}

/** Gives the row of a deleted response a final status, so that the background does not read it again. */
export async function closeDeleted(scope: ResponseScope, deleted: UpstreamObject): Promise<void> {
  const row = await openBackgroundResponse(scope, deleted);
  if (row !== null) await storeState(scope, row, { ...withoutPendingUsage(row.shown ?? {}), status: 'expired' });
}

/** Records the cost of a background response that a read shows as ended. The background does so after a failure. */
export function recordEnded(scope: ResponseScope, deploymentId: string, response: JsonObject): void {
  const { id: upstreamId, background } = response;
  if (background !== true || typeof upstreamId !== 'string' || mayChange('response', response)) return;
  const record = async (): Promise<void> => {
    const row = await openBackgroundResponse(scope, { deploymentId, upstreamId });
    if (row !== null) await storeState(scope, row, response);
  };
  record().catch(() => undefined);
}
