import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { CommandFailure, HttpFailure, textOf } from '../failure.ts';
import { type Client, createClient } from '../server/client.ts';
import { plain } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, textOrNull } from '../values.ts';
import { openBrowser } from './browser.ts';
import { chooseTeam, type Team } from './team-choice.ts';

const POLL_EVERY_MS = 2_000;
const LOGIN_DEADLINE_MS = 300_000;
const POLL_REQUEST_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

interface SignedIn {
  readonly key: string;
  readonly userId: string | null;
  readonly teamId: string | null;
}

/** Answer of `/sso/cli/start`. */
interface Started {
  readonly id: string;
  readonly secret: string;
  readonly code: string;
  /** Address of the sign-in page. */
  readonly url: string;
}

async function start(client: Client): Promise<Started> {
  const answer = jsonObjectOf(await client.send('POST', '/sso/cli/start'));
  const [id, secret, code] = ['login_id', 'poll_secret', 'user_code'].map((name) => textOrNull(answer[name]));
  if (!id || !secret || !code)
    throw new CommandFailure('the server answered without login_id, poll_secret or user_code');
  const query = new URLSearchParams({ source: 'litellm-cli', key: id });
  const named = textOrNull(answer['verification_uri_complete']);
  // An address with another scheme could start a program of the system.
  const url =
    (named !== null && /^https?:\/\/\S+$/.test(named) ? named : null) ??
    `${client.baseUrl}/sso/key/generate?${query.toString()}`;
  return { id, secret, code, url };
}

const teamsOf = (answer: JsonObject): readonly Team[] => {
  const details = itemsOf(answer['team_details']).map(jsonObjectOf);
  const named = details.map(({ team_id, team_alias }) => ({
    id: textOrNull(team_id) ?? '',
    alias: textOrNull(team_alias),
  }));
  return named.length > 0 ? named : itemsOf(answer['teams']).map((id) => ({ id: String(id), alias: null }));
};

/**
 * Polls until the person has signed in. Null when the deadline has passed. Throws HttpFailure when the server refuses
 * the login. Polls again after status 429 or 5xx and after a failed connection.
 */
async function poll(
  context: Context,
  client: Client,
  started: Started,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const { terminal } = context.host;
  const untilMs = context.host.nowMs() + LOGIN_DEADLINE_MS;
  while (context.host.nowMs() < untilMs) {
    try {
      const answer = await pollOnce(client, started, signal);
      if (answer['status'] === 'ready') return answer;
    } catch (error) {
      const isRefusal = error instanceof HttpFailure && error.status < 500 && error.status !== TOO_MANY_REQUESTS;
      if (isRefusal || signal.aborted) throw error;
      terminal.print(`Connection error (will retry): ${plain(textOf(error))}`);
    }
    await wait(POLL_EVERY_MS, undefined, { signal });
  }
  return null;
}

async function pollOnce(
  client: Client,
  { id, secret }: Started,
  signal: AbortSignal,
  teamId: string | null = null,
): Promise<JsonObject> {
  const answer = await client.send('GET', `/sso/cli/poll/${encodeURIComponent(id)}`, {
    query: { team_id: teamId },
    headers: { 'x-litellm-cli-poll-secret': secret },
    deadlineMs: POLL_REQUEST_MS,
    signal,
  });
  return jsonObjectOf(answer);
}

/** Signs in by a browser. Null, after a message on the terminal, when the person did not finish. Throws like `poll`. */
export async function signInByBrowser(context: Context, signal: AbortSignal): Promise<SignedIn | null> {
  const { terminal } = context.host;
  const client = createClient(context.baseUrl, null);
  const started = await start(client);
  terminal.print(`Opening browser to: ${plain(started.url)}`);
  terminal.print('Please complete the SSO authentication in your browser...');
  terminal.print(`Verification code: ${plain(started.code)}`);
  terminal.print(`Session ID: ${plain(started.id)}`);
  openBrowser(context.host, started.url);
  terminal.print('Waiting for authentication...');
  let answer = await poll(context, client, started, signal);
  if (answer === null) {
    terminal.print('Authentication timed out. Please try again.');
    return null;
  }
  if (answer['requires_team_selection'] === true) {
    const team = await chooseTeam(context.host, teamsOf(answer));
    if (team === null) {
      terminal.print('Authentication cancelled.');
      return null;
    }
    answer = await pollOnce(client, started, signal, team === 'skip' ? 'skip' : team.id);
  }
  const key = textOrNull(answer['key']);
  if (key === null) throw new CommandFailure('the server answered without a key');
  return { key, userId: textOrNull(answer['user_id']), teamId: textOrNull(answer['team_id']) };
}
