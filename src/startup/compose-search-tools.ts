import type { SearchTools } from '../domain/search-tools/search-tool.ts';
import type { Stores } from '../persistence/stores.ts';
import { createSearchTools } from '../runtime/search-tools/search-tools.ts';
import type { StartContext } from './context.ts';

/** Search tools: those of the configuration file, and the stored ones. */
export async function composeSearchTools(
  { settings, log }: StartContext,
  stores: Pick<Stores, 'searchTools'>,
): Promise<SearchTools> {
  const searchTools = createSearchTools({
    configured: settings.searchTools,
    readParams: settings.guardrails.readParams,
    store: stores.searchTools,
    salt: settings.saltSecrets,
    log,
  });
  await searchTools.refresh();
  return searchTools;
}
