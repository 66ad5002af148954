import { flag, secret, text, integer } from '../kinds.ts';
import { setting } from '../setting.ts';
import { sourceLimits } from '../source-limits-kind.ts';

const MAX_FAILURES = 1_000_000;
const MAX_SECONDS = 86_400;
const MAX_HOURS = 8_760;

/** Sign-in with name and password. */
export const SIGN_IN_SETTINGS = {
  signInName: setting({
    kind: text(),
    default: 'admin',
    env: ['UI_USERNAME'],
    description: 'Name of the administrator at `/login`.',
  }),
  signInPassword: setting({
    kind: secret(),
    default: null,
    defaultText: 'the admin key only',
    env: ['UI_PASSWORD'],
    description:
      'Password of the administrator at `/login`, in addition to the admin key. Other users sign in with one of their keys.',
  }),
  controlPlaneUrl: setting({
    kind: text('http(s) address', (value) => (/^https?:\/\/[^\s]+$/i.test(value) ? null : 'is not an http(s) address')),
    default: null,
    file: 'general_settings.control_plane_url',
    description:
      'Address of another server whose users sign in at this one. With it, `/v3/login` answers with a code; the other server exchanges the code for a session at `/v3/login/exchange`.',
  }),
  commandLineHours: setting({
    kind: integer(1, MAX_HOURS),
    default: 24,
    env: ['LITELLM_CLI_JWT_EXPIRATION_HOURS', 'CLI_JWT_EXPIRATION_HOURS'],
    unit: 'h',
    description: 'Lifetime of a session of the command line.',
  }),
  failedSignIns: setting({
    kind: integer(0, MAX_FAILURES),
    default: 10,
    file: 'general_settings.max_failed_login_attempts_per_source',
    description:
      'Failed sign-ins in a window before a client network is blocked. The limit of a network applies only where `trusted_proxies` is set. Half of this number always applies to each name from one network. 0 sets neither limit.',
  }),
  failedSignInsBySource: setting({
    kind: sourceLimits(MAX_FAILURES),
    default: [],
    defaultText: 'none',
    file: 'general_settings.max_failed_login_attempts_per_source_overrides',
    description:
      'Other limits for client networks, e.g. `{10.0.0.0/8: 50, 192.0.2.7: 0}`. The smallest range that contains the network applies; 0 sets no limit. They have no effect while the general limit is 0.',
  }),
  failedSignInWindowSeconds: setting({
    kind: integer(1, MAX_SECONDS),
    default: 60,
    file: 'general_settings.failed_login_window_seconds',
    unit: 's',
    description: 'Window in which failed sign-ins are counted.',
  }),
  failedSignInBlockSeconds: setting({
    kind: integer(1, MAX_SECONDS),
    default: 300,
    file: 'general_settings.failed_login_block_seconds',
    unit: 's',
    description:
      'How long a network, or a name from it, stays blocked after too many failures. Sign-ins with the correct password are then refused, too.',
  }),
  unlimitedSignIns: setting({
    kind: flag(),
    default: false,
    env: ['LITELLM_DISABLE_LOGIN_RATE_LIMIT'],
    description: 'Sets no limit for failed sign-ins.',
  }),
} as const;
