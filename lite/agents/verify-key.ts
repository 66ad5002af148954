import { CommandFailure, HttpFailure } from '../failure.ts';
import { createClient } from '../server/client.ts';
import { plain } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf } from '../values.ts';

/** Deadline of the check, in ms. */
const VERIFY_MS = 10_000;
const REFUSED: ReadonlySet<number> = new Set([401, 403]);

async function listModels(baseUrl: string, key: string): Promise<readonly JsonObject[]> {
  const answer = await createClient(baseUrl, key).send('GET', '/v1/models', { deadlineMs: VERIFY_MS });
  return itemsOf(jsonObjectOf(answer)['data']).map(jsonObjectOf);
}

/**
 * Checks a key against the server. Returns the models of the key; null for an error status other than 401 and 403.
 * Throws CommandFailure where the server cannot be reached or refuses the key. `advice` ends the message of a refusal.
 */
export async function verifyKey(
  baseUrl: string,
  key: string,
  advice = 'Run `lite login` to refresh it, or pass a valid --api-key.',
): Promise<readonly JsonObject[] | null> {
  try {
    return await listModels(baseUrl, key);
  } catch (error) {
    if (error instanceof HttpFailure) {
      if (!REFUSED.has(error.status)) return null;
      throw new CommandFailure(`LiteLLM rejected your key (HTTP ${error.status}). ${advice}`);
    }
    if (!(error instanceof CommandFailure)) throw error;
    throw new CommandFailure(
      `${plain(error.message)}. Is it running, and is --base-url (or LITELLM_PROXY_URL) correct?`,
    );
  }
}
