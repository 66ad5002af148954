import { collect } from '../domain/bytes.ts';
import type { Caller } from '../domain/caller.ts';
import type { CatalogSnapshot } from '../domain/catalog/catalog.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import { entryFor } from '../domain/deployments/priced-by.ts';
import { type Probe, type Question, questionFor } from '../domain/deployments/probe.ts';
import { DomainError } from '../domain/errors.ts';
import { type CallTools, openCall } from './call.ts';
import type { ProbeGateway } from './gateway.ts';
import { providerFor } from './route.ts';

/** What a probe is in a spend row. */
const CALL_TYPE = 'ahealth_check';
/** More than any answer to so small a question; a picture is the largest. */
const ANSWER_LIMIT = 16 * 1024 * 1024;

/** Asks deployments whether they answer. A probe is a call like others: it has a price, a row and a span, and counts as health. */
export function createProbing({
  providers,
  tools,
  catalog,
}: {
  readonly providers: readonly Provider[];
  readonly tools: CallTools;
  readonly catalog: () => CatalogSnapshot;
}): ProbeGateway {
  const last = new Map<string, Probe>();
  /** Who asks while the same is being asked waits for that answer. */
  const asking = new Map<string, Promise<Probe>>();

  async function ask(caller: Caller, deployment: Deployment, question: Question, signal: AbortSignal): Promise<Probe> {
    const { endpoint, upstreamModel, timeoutSeconds } = question;
    const { modelGroup: model } = deployment;
    const body = { ...question.body, model };
    const asked = { model, body, callId: null, parent: null };
    const meant = { ...deployment, upstreamModel, timeoutSeconds };
    const request = { ...asked, endpoint: { ...endpoint, callType: CALL_TYPE } };
    const at = tools.clock.now();
    const call = openCall(tools, { caller, request, deployment: meant, signal });
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const begun = tools.clock.monotonicMs();
    const probed = (failure: Probe['failure']): Probe => ({
      at,
      latencyMs: tools.clock.monotonicMs() - begun,
      failure,
    });
    try {
      const sent = { ...asked, endpoint, bytes, stream: false, includeUsage: false };
      const answered = call.answered(await providerFor(meant, providers).send(meant, sent, signal));
      await collect(answered.exchange.bytes, ANSWER_LIMIT);
      answered.settle('completed');
      return probed(null);
    } catch (failure) {
      call.failed(failure);
      if (!(failure instanceof DomainError)) throw failure;
      return probed({ code: failure.code, message: failure.message });
    }
  }

  return {
    async probe(caller, deployment, signal) {
      const question = questionFor(deployment, entryFor(deployment, catalog()));
      if (typeof question === 'string') return question;
      // Nothing is reserved: a deployment has one probe at a time, which asks for a few tokens.
      await tools.budgets.check(caller);
      const { id } = deployment;
      const running = asking.get(id);
      if (running !== undefined) return await running;
      const probing = ask(caller, deployment, question, signal).finally(() => asking.delete(id));
      asking.set(id, probing);
      const probe = await probing;
      last.set(id, probe);
      return probe;
    },
    lastProbe: (id) => last.get(id) ?? null,
  };
}
