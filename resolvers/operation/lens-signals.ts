import { questionsOf, DEFAULT_SIGNALS, SIGNAL_CONFIG_ID, type SignalConfig } from '../../src/domain/lens/signals.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** The current configuration; the default while none is stored. */
export async function signalConfig({ platform }: Scope<LensPlatform>): Promise<SignalConfig> {
  const stored = await platform.stores.signalConfigs.find(SIGNAL_CONFIG_ID);
  if (stored === null) return DEFAULT_SIGNALS;
  const { model, threshold, signals } = stored;
  return { model, threshold, signals };
}

/** Hash of the settings that the answers of the model depend on. */
export const configKeyOf = ({ platform }: Scope<LensPlatform>, config: SignalConfig): string =>
  platform.keyGenerator.hash(questionsOf(config));
