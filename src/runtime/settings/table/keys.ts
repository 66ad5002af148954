import { flag } from '../kinds.ts';
import { keyCaps, keyDefaults, keyMakers } from '../key-rules-kind.ts';
import { setting } from '../setting.ts';

/** Rules for creating and changing keys. */
export const KEY_SETTINGS = {
  keyDefaults: setting({
    kind: keyDefaults(),
    default: {},
    defaultText: 'none',
    file: 'litellm_settings.default_key_generate_params',
    description:
      'Defaults of `/key/generate` and service accounts for members that a request leaves out: `models`, `team_id`, `metadata`, `max_budget`, `budget_duration`, `duration`, `tpm_limit`, `rpm_limit`, `max_parallel_requests`.',
  }),
  keyCaps: setting({
    kind: keyCaps(),
    default: {},
    defaultText: 'none',
    file: 'litellm_settings.upperbound_key_generate_params',
    description:
      'Highest limits of keys: `max_budget`, `budget_duration`, `duration`, `tpm_limit`, `rpm_limit`, `max_parallel_requests`. New keys get them where a request leaves a limit out; requests and changes with a higher limit are refused. A month of `duration` counts by the calendar, a month of `budget_duration` as 30 days.',
  }),
  keyMakers: setting({
    kind: keyMakers(),
    default: null,
    defaultText: 'everyone',
    file: 'litellm_settings.key_generation_settings',
    description:
      'Who may create keys: `team_key_generation` with `allowed_team_member_roles`, `personal_key_generation` with `allowed_user_roles`. `required_params` of each are members that a request must have. Even an empty map refuses keys of teams that do not exist.',
  }),
  refusesOwnSecrets: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.disable_custom_api_keys',
    description: 'Keys are always random: `key` of `/key/generate` and `new_key` of `/key/regenerate` are refused.',
  }),
  refusesOrganizationAdmins: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.disable_key_generate_for_org_admin',
    description: 'Administrators of an organization cannot create keys.',
  }),
  checksKeyAliases: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.enable_key_alias_format_validation',
    description:
      'Refuses key aliases other than 2 to 255 letters, digits and `_-/.@` that begin and end with a letter or digit.',
  }),
};
