import type { A2aAgent } from '../../domain/a2a-agents/agent.ts';
import type { KillSwitches } from '../../domain/a2a-agents/agents.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import { type HttpClient, HttpFailure, type HttpMethod } from '../../domain/http.ts';
import { jsonObjectOf } from '../../domain/json-object.ts';

/** Deadline of the head of the answer, in ms. */
const DEADLINE_MS = 30_000;
/** Status with which failed kill switches are answered, as in the reference. */
const FAILED = 502;
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies readonly HttpMethod[];

const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(jsonObjectOf(value)).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  );

/** `Authorization` for the `auth` of a kill switch: a bearer token, or a user name and a password. */
function authorizationOf(auth: unknown): Readonly<Record<string, string>> {
  const { token, username, password } = textsIn(auth);
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

function requestOf({ killSwitch }: A2aAgent) {
  const { url, method, headers, query_params: query, body, auth } = killSwitch ?? {};
  const address = new URL(typeof url === 'string' ? url : '');
  for (const [name, value] of Object.entries(textsIn(query))) address.searchParams.set(name, value);
  const name = typeof method === 'string' ? method.toUpperCase() : 'POST';
  const hasBody = body !== undefined && body !== null;
  return {
    method: (METHODS.includes(name) ? name : 'POST') as HttpMethod,
    url: address.href,
    headers: {
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...authorizationOf(auth),
      ...textsIn(headers),
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
      if (answer.status >= 400) throw failed(`it answered with status ${answer.status}`);
      return answer.status;
    } catch (error) {
      if (error instanceof HttpFailure) throw failed(error.message, error);
      throw error;
    }
  },
});
