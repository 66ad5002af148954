import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { ConfigError } from '../../../src/runtime/settings/config-fault.ts';
import { readSettings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-settings-'));
  file = join(folder, 'config.yaml');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Errors of a file as lines, and its warnings. */
function read(text: string): { readonly faults: readonly string[]; readonly warnings: readonly string[] } {
  writeFileSync(file, text);
  try {
    const { warnings } = readSettings(['--config', file], { LENSGATE_DATA_DIR: join(folder, 'data') }, keyGenerator);
    return { faults: [], warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { faults: error.faults.map(({ line, key, message }) => `${line} ${key} ${message}`), warnings: [] };
  }
}

it('settings that can be stored have the same rules in the file as in the store', () => {
  const { faults } = read(`litellm_settings:
  ui_theme_config:
    logo_url: javascript:alert(1)
    favicon_url: /etc/passwd
  default_team_params:
    max_budget: -1
    budget_duration: soon
    models: [1]
  default_internal_user_params:
    user_role: king
  cost_discount_config:
    openai: 5
  cost_margin_config: []
`);
  expect(faults).toEqual([
    '3 litellm_settings.ui_theme_config.logo_url is not valid: Value error, expected an http:// or https:// address',
    '4 litellm_settings.ui_theme_config.favicon_url is not valid: Value error, expected an http:// or https:// address',
    '6 litellm_settings.default_team_params.max_budget is not valid: Input should be greater than or equal to 0',
    '7 litellm_settings.default_team_params.budget_duration is not valid: Value error, expected a duration such as 1h, 1d or 1mo',
    '8 litellm_settings.default_team_params.models is not valid: Input should be a valid list of strings',
    "10 litellm_settings.default_internal_user_params.user_role is not valid: Input should be one of 'proxy_admin', 'proxy_admin_viewer', 'internal_user', 'internal_user_viewer'",
    '11 litellm_settings.cost_discount_config is not valid: Discount for openai must be between 0 and 1 (0% to 100%)',
    '13 litellm_settings.cost_margin_config is not an object',
  ]);
});

it('invalid values of settings without an effect are warnings, and errors of a strict file', () => {
  const text = `general_settings:
  max_parallel_requests: -1
  alerting_args:
    outage_alert_ttl: often
router_settings:
  set_verbose: soon
`;
  const expected = [
    ['2', 'general_settings.max_parallel_requests', 'is not a whole number from 0'],
    ['4', 'general_settings.alerting_args.outage_alert_ttl', 'is not a whole number from 0'],
    ['6', 'router_settings.set_verbose', 'is not true or false'],
  ];
  const { warnings } = read(text);
  for (const [line, key, message] of expected) expect(warnings).toContain(`${file}:${line}: ${key}: ${message}`);
  const { faults } = read(`${text}strict_config: true\n`);
  for (const parts of expected) expect(faults).toContain(parts.join(' '));
});

it('valid values, texts of numbers and variables that are not set are accepted', () => {
  const { faults, warnings } = read(`general_settings:
  max_parallel_requests: '5'
  database_connection_pool_limit: os.environ/NOT_SET_HERE
litellm_settings:
  ui_theme_config: { logo_url: https://example.org/logo.png }
  default_team_params: { max_budget: 5.5, budget_duration: 30d, tpm_limit: '100' }
  cost_discount_config: { openai: 0.05 }
`);
  expect(faults).toEqual([]);
  expect(warnings.filter((text) => text.includes('is not a'))).toEqual([]);
});
