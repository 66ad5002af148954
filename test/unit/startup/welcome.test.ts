import { expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import type { Settings } from '../../../src/runtime/settings/settings.ts';
import { welcome } from '../../../src/startup/welcome.ts';

const messageFor = (masterKeySource: Settings['masterKeySource']): string =>
  welcome('http://127.0.0.1:4000', {
    dataDir: '/data',
    masterKey: new Secret('sk-1'),
    masterKeySource,
  } as unknown as Settings);

it.each([
  ['generated', 'sk-1   (generated now, stored in /data/admin-key)', '$(cat /data/admin-key)'],
  ['data folder', 'kept in /data/admin-key', '$(cat /data/admin-key)'],
  ['environment', 'taken from LITELLM_MASTER_KEY', '$LITELLM_MASTER_KEY'],
  [
    'config file',
    'taken from general_settings.master_key; set LITELLM_MASTER_KEY to it for the calls below',
    '$LITELLM_MASTER_KEY',
  ],
] as const)('the message of a start says where the admin key is: %s', (source, place, key) => {
  const lines = messageFor(source).split('\n');
  expect(lines).toContain(`  Admin key  ${place}`);
  expect(lines.filter((line) => line.includes('Authorization'))).toHaveLength(2);
  for (const line of lines.filter((one) => one.includes('Authorization')))
    expect(line).toContain(`"Authorization: Bearer ${key}"`);
});
