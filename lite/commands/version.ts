import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { textOf } from '../failure.ts';
import { createClient } from '../server/client.ts';
import { plain } from '../terminal/table.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { textOrNull } from '../values.ts';

/** Deadline of the request for the version, in ms. */
const VERSION_MS = 10_000;

const ownVersion = ({ host }: Context): string =>
  textOrNull(jsonObjectOf(JSON.parse(readFileSync(join(host.root, 'package.json'), 'utf8')))['version']) ?? 'unknown';

/** Version of the server; null where it is unknown. Some servers show it only to callers with a key. */
async function serverVersion(context: Context): Promise<string | null> {
  const options = { deadlineMs: VERSION_MS };
  const found = jsonObjectOf(await createClient(context.baseUrl, null).send('GET', '/health/readiness', options));
  const version = textOrNull(found['litellm_version']);
  if (version !== null || (await context.key()) === null) return version;
  const client = await context.client();
  const details = await client.send('GET', '/health/readiness/details', options).catch(() => null);
  return textOrNull(jsonObjectOf(details)['litellm_version']);
}

/** Prints the versions of the command and the server. An unreachable server is no failure. */
export async function printVersion(context: Context): Promise<void> {
  const { terminal } = context.host;
  terminal.print(`LiteLLM Proxy CLI Version: ${ownVersion(context)}`);
  terminal.print(`LiteLLM Proxy Server URL: ${context.baseUrl}`);
  try {
    terminal.print(`LiteLLM Proxy Server Version: ${plain((await serverVersion(context)) ?? '(unavailable)')}`);
  } catch (error) {
    terminal.print(`Could not retrieve server version: ${plain(textOf(error))}`);
  }
}

export const versionCommands: readonly Command[] = [
  { names: ['version'], summary: 'Show the version of the command and of the server.', run: printVersion },
];
