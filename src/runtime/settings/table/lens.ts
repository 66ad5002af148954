import { decimal, secret, integer } from '../kinds.ts';
import { setting } from '../setting.ts';

const MIN_TOKEN_LENGTH = 32;

/** Lens runs and signals in this process, and access for a trace service of your own. */
export const LENS_SETTINGS = {
  lensWorkerSlots: setting({
    kind: integer(0, 64),
    default: 2,
    env: ['LENSGATE_LENS_WORKER_SLOTS'],
    file: 'general_settings.lens.worker_slots',
    unit: 'runs',
    description:
      'Maximum number of lens runs that this process works on at the same time. 0 leaves all to other workers (`npm run lens-worker`).',
  }),
  lensPollSeconds: setting({
    kind: decimal({ from: 0.05, to: 3_600 }),
    default: 2,
    env: ['LENSGATE_LENS_POLL_SECONDS'],
    file: 'general_settings.lens.poll_seconds',
    unit: 's',
    description: 'Time between checks for due lens runs.',
  }),
  lensSignalSeconds: setting({
    kind: decimal({ from: 0, to: 3_600 }),
    default: 15,
    env: ['LENSGATE_LENS_SIGNAL_SECONDS'],
    file: 'general_settings.lens.signal_seconds',
    unit: 's',
    description: 'Time between checks for traces whose signals are not computed yet. 0 never checks.',
  }),
  lensServiceToken: setting({
    kind: secret(`at least ${MIN_TOKEN_LENGTH} characters`, (token) =>
      token.length < MIN_TOKEN_LENGTH ? `must have at least ${MIN_TOKEN_LENGTH} characters` : null,
    ),
    default: null,
    defaultText: 'none: the path is refused',
    env: ['LITELLM_LENS_SERVICE_TOKEN'],
    file: 'general_settings.lens.service_token',
    description:
      'Token with which a trace service of your own reads the hashes of the tracing keys: `GET /lens/internal/ingestion-credentials`.',
  }),
} as const;
