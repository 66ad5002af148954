import type { Guardrails } from '../domain/guardrails/guardrails.ts';
import type { Stores } from '../persistence/stores.ts';
import { createGuardrails } from '../runtime/guardrails/guardrails.ts';
import type { StartContext } from './context.ts';

/** The definitions of guardrails: those of the configuration file, and the stored ones. */
export async function composeGuardrails(
  { settings, log }: StartContext,
  stores: Pick<Stores, 'guardrails'>,
): Promise<Guardrails> {
  const guardrails = createGuardrails({
    configured: settings.guardrails.definitions,
    readParams: settings.guardrails.readParams,
    store: stores.guardrails,
    salt: settings.saltSecrets,
    log,
  });
  await guardrails.refresh();
  return guardrails;
}
