import type { VectorStores } from '../domain/vector-stores/vector-store.ts';
import type { Stores } from '../persistence/stores.ts';
import { createVectorStores } from '../runtime/vector-stores/vector-stores.ts';
import type { StartContext } from './context.ts';

/** Registered vector stores: those of the configuration file, and the stored ones. */
export async function composeVectorStores(
  { settings, log }: StartContext,
  stores: Pick<Stores, 'vectorStores'>,
): Promise<VectorStores> {
  const vectorStores = createVectorStores({
    configured: settings.vectorStores,
    readParams: settings.guardrails.readParams,
    store: stores.vectorStores,
    salt: settings.saltSecrets,
    log,
  });
  await vectorStores.refresh();
  return vectorStores;
}
