import type { A2aAgent } from '../../domain/a2a-agents/agent.ts';
import type { KillSwitches } from '../../domain/a2a-agents/agents.ts';
import { authorizationOf, KILL_SWITCH_METHODS, textsIn } from '../../domain/a2a-agents/kill-switch.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import { type HttpClient, HttpFailure } from '../../domain/http.ts';

/** Deadline of the head of the answer, in ms. */
const DEADLINE_MS = 30_000;
/** Status of the answer to a caller when a kill switch fails, as in the reference. */
const FAILED = 502;
/** Lowest status of an answer that is no success. */
const FIRST_FAILED_STATUS = 300;

const withLowerCaseNames = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The request of a kill switch. Configured headers replace those of the gateway. */
function requestOf({ killSwitch }: A2aAgent) {
  const { url, method, headers, query_params: query, body, auth } = killSwitch ?? {};
  const address = new URL(typeof url === 'string' ? url : '');
  for (const [name, value] of Object.entries(textsIn(query))) address.searchParams.set(name, value);
  const name = typeof method === 'string' ? method.toUpperCase() : 'POST';
  const hasBody = body !== undefined && body !== null;
  return {
    method: KILL_SWITCH_METHODS.find((one) => one === name) ?? 'POST',
    url: address.href,
    headers: {
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...authorizationOf(auth),
      ...withLowerCaseNames(textsIn(headers)),
    },
    pieces: hasBody ? [Buffer.from(JSON.stringify(body))] : [],
  };
}

export const createKillSwitches = (http: HttpClient): KillSwitches => ({
  async pull(agent, signal) {
    const { method, url, headers, pieces } = requestOf(agent);
    const failed = (why: string, cause?: unknown): UpstreamFailed =>
      new UpstreamFailed(
        `The kill switch of agent ${agent.id} failed: ${why}`,
        { provider: 'a2a_agent', upstreamStatus: FAILED },
        { cause },
      );
    try {
      const answer = await http.send(method, url, headers, pieces, {
        signal,
        headersTimeoutMs: DEADLINE_MS,
        owner: '',
      });
      answer.body.cancel();
      // A redirect is not followed, so that it stops nothing.
      if (answer.status >= FIRST_FAILED_STATUS) throw failed(`it answered with status ${answer.status}`);
      return answer.status;
    } catch (error) {
      if (error instanceof HttpFailure) throw failed(error.message, error);
      throw error;
    }
  },
});
