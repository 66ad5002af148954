import { expect, it } from 'vitest';
import type { DeclaredConfig } from '../../../src/domain/settings/ownership.ts';
import { retentionMs } from '../../../src/domain/settings/retention.ts';

const HOUR_MS = 3_600_000;
const configuration = (general: object, stored: object = {}) => ({
  current: () =>
    ({ declared: { general_settings: general }, resolved: { general_settings: general } }) as unknown as DeclaredConfig,
  stored: () => new Map([['general_settings', { ...stored }]]),
});

it.each([
  ['30 days by default', {}, {}, 720],
  ['the period of the file', { maximum_health_check_retention_period: '36h' }, {}, 36],
  ['a stored period', {}, { maximum_health_check_retention_period: '2w' }, 336],
  [
    'the file over a stored one',
    { maximum_health_check_retention_period: '1mo' },
    { maximum_health_check_retention_period: '1h' },
    720,
  ],
  ['never, for 0 in the file', { maximum_health_check_retention_period: '0d' }, {}, 0],
  ['the default for a stored text that is no duration', {}, { maximum_health_check_retention_period: 'soon' }, 720],
])('health checks are deleted at the configured age: %s', (_title, general, stored, hours) => {
  expect(retentionMs(configuration(general, stored), 'maximum_health_check_retention_period')).toBe(hours * HOUR_MS);
});

it('spend rows are deleted at an age of 400 days by default, or at the age in the file', () => {
  const setting = 'maximum_spend_logs_retention_period';
  expect(retentionMs(configuration({}), setting)).toBe(400 * 24 * HOUR_MS);
  expect(retentionMs(configuration({ [setting]: '7d' }), setting)).toBe(168 * HOUR_MS);
});
