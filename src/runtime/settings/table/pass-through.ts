import { anything, decimal } from '../kinds.ts';
import { setting } from '../setting.ts';

const MOST_SECONDS = 86_400;

/** Paths whose calls are forwarded. */
export const PASS_THROUGH_SETTINGS = {
  passThroughEndpoints: setting({
    kind: anything('list of entries'),
    default: null,
    file: 'general_settings.pass_through_endpoints',
    description:
      'Paths whose calls are forwarded to an address, see [pass-through.md](pass-through.md). Stored entries are served besides.',
  }),
  passThroughTimeoutSeconds: setting({
    kind: decimal({ above: 0, to: MOST_SECONDS }),
    default: 600,
    file: 'general_settings.pass_through_request_timeout',
    unit: 's',
    description: 'Time to the first byte of a forwarded answer, where an entry sets no `timeout`.',
  }),
} as const;
