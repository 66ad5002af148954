import { collect } from '../../domain/bytes.ts';
import type { Caller } from '../../domain/caller.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import { catalogEntryFor } from '../../domain/deployments/catalog-entry.ts';
import type { HealthCheck } from '../../domain/deployments/health-check.ts';
import { type Probe, type ProbeRequest, probeRequestFor } from '../../domain/deployments/probe.ts';
import { DomainError } from '../../domain/errors.ts';
import { newStamps } from '../../domain/row-store.ts';
import { type CallTools, openCall } from './call.ts';
import type { ProbeGateway } from '../gateway.ts';
import { providerFor } from '../routing/route.ts';

/** Call type of a probe in a spend row. */
const CALL_TYPE = 'ahealth_check';
/** Maximum size of a probe's answer, in bytes. Images are the largest answers. */
const ANSWER_LIMIT = 16 * 1024 * 1024;

/**
 * Creates the probes of deployments. A probe is a normal call: it is priced, recorded, and counts for the health of its
 * deployment.
 */
export function createProbing({
  providers,
  tools,
  catalog,
  keep,
}: {
  readonly providers: readonly Provider[];
  readonly tools: CallTools;
  readonly catalog: () => CatalogSnapshot;
  /** Receives the result of each probe that was sent to a configured deployment. */
  readonly keep: (check: HealthCheck) => void;
}): Omit<ProbeGateway, 'cooldownMs'> {
  /** Last probes by deployment id. */
  const lastProbes = new Map<string, Probe>();
  /** Running probes by deployment id, with the signals of their callers. Concurrent requests share one. */
  const running = new Map<string, { readonly probing: Promise<Probe>; readonly signal: AbortSignal }>();

  function keepResult({ keyHash, userId }: Caller, { id, modelGroup }: Deployment, probe: Probe): void {
    lastProbes.set(id, probe);
    const { at, ...result } = probe;
    keep({
      id: tools.ids.uuid(),
      deploymentId: id,
      modelGroup,
      ...result,
      ...newStamps({ now: at, by: userId ?? keyHash }),
    });
  }

  async function send(
    caller: Caller,
    deployment: Deployment,
    probeRequest: ProbeRequest,
    signal: AbortSignal,
  ): Promise<Probe> {
    const { endpoint, upstreamModel, timeoutSeconds } = probeRequest;
    const { modelGroup: model } = deployment;
    const body = { ...probeRequest.body, model };
    const common = { model, body, callId: null, parent: null };
    const probed = { ...deployment, upstreamModel, timeoutSeconds };
    const recorded = { ...common, endpoint: { ...endpoint, callType: CALL_TYPE } };
    const at = tools.clock.now();
    const call = openCall(tools, { caller, request: recorded, deployment: probed, signal });
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const startMs = tools.clock.monotonicMs();
    const probeWith = (failure: Probe['failure']): Probe => ({
      at,
      latencyMs: tools.clock.monotonicMs() - startMs,
      failure,
    });
    try {
      const sent = { ...common, endpoint, bytes, stream: false, includeUsage: false };
      const answered = call.answered(await providerFor(probed, providers).send(probed, sent, signal));
      await answered.consume((stream) => collect(stream, ANSWER_LIMIT));
      return probeWith(null);
    } catch (failure) {
      call.failed(failure);
      if (!(failure instanceof DomainError)) throw failure;
      return probeWith({ code: failure.code, message: failure.message });
    }
  }

  /** Stores and returns the failed probe of a deployment that cannot be called. */
  function misconfiguredProbe({ id }: Deployment, message: string): Probe {
    const probe: Probe = { at: tools.clock.now(), latencyMs: 0, failure: { code: 'UNAVAILABLE', message } };
    lastProbes.set(id, probe);
    return probe;
  }

  return {
    async probe(caller, deployment, signal) {
      if (deployment.misconfigured !== undefined) return misconfiguredProbe(deployment, deployment.misconfigured);
      const probeRequest = probeRequestFor(deployment, catalogEntryFor(deployment, catalog()));
      // A text is the reason why the deployment cannot be probed.
      if (typeof probeRequest === 'string') return probeRequest;
      // No reservation: a deployment has one probe at a time, of a few tokens.
      await tools.budgets.check(caller);
      const { id } = deployment;
      let shared = running.get(id);
      while (shared !== undefined) {
        try {
          return await shared.probing;
        } catch (error) {
          // If only the caller of the shared probe has disconnected, this request probes again.
          if (!shared.signal.aborted || signal.aborted) throw error;
        }
        shared = running.get(id);
      }
      const probing = send(caller, deployment, probeRequest, signal).finally(() => running.delete(id));
      running.set(id, { probing, signal });
      const probe = await probing;
      keepResult(caller, deployment, probe);
      return probe;
    },
    async probeOnce(caller, deployment, signal) {
      const probeRequest = probeRequestFor(deployment, catalogEntryFor(deployment, catalog()));
      if (typeof probeRequest === 'string') return probeRequest;
      await tools.budgets.check(caller);
      return await send(caller, deployment, probeRequest, signal);
    },
    lastProbe: (id) => lastProbes.get(id) ?? null,
  };
}
