import type { Prompts } from '../domain/prompts/prompt.ts';
import type { Stores } from '../persistence/stores.ts';
import { createPrompts } from '../runtime/prompts/prompts.ts';
import type { StartContext } from './context.ts';

/** Prompts: those of the configuration file, and the stored ones. */
export async function composePrompts({ settings }: StartContext, stores: Pick<Stores, 'prompts'>): Promise<Prompts> {
  const prompts = createPrompts({ configured: settings.prompts, store: stores.prompts });
  await prompts.refresh();
  return prompts;
}
