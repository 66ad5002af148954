import { durationMs } from '../keys/durations.ts';
import type { Configuration } from './configuration.ts';
import { settingViewOf } from './ownership.ts';

/** General settings with the age at which records are deleted, and their defaults. `0d` keeps the records. */
export const RETENTIONS = {
  maximum_health_check_retention_period: '30d',
  maximum_spend_logs_retention_period: '400d',
} as const;

/** Age in ms at which records are deleted; 0 keeps them. The default applies to a value that is not a duration. */
export function retentionMs(
  configuration: Pick<Configuration, 'current' | 'stored'>,
  setting: keyof typeof RETENTIONS,
): number {
  const { effectiveValue } = settingViewOf(
    configuration.current(),
    configuration.stored(),
    'general_settings',
    setting,
  );
  const configuredMs = typeof effectiveValue === 'string' ? durationMs(effectiveValue) : null;
  return configuredMs ?? durationMs(RETENTIONS[setting]) ?? 0;
}
