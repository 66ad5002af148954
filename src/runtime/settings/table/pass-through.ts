import { anyValue, decimal, flag, secret } from '../kinds.ts';
import { setting } from '../setting.ts';

const MAX_SECONDS = 86_400;
const MAX_COST = 10_000;

/** Paths whose calls are forwarded. */
export const PASS_THROUGH_SETTINGS = {
  passThroughEndpoints: setting({
    kind: anyValue('list of endpoints'),
    default: null,
    file: 'general_settings.pass_through_endpoints',
    description:
      'Paths whose calls are forwarded to an address, see [pass-through.md](pass-through.md). Endpoints stored at run time are served, too.',
  }),
  passThroughTimeoutSeconds: setting({
    kind: decimal({ above: 0, to: MAX_SECONDS }),
    default: 600,
    file: 'general_settings.pass_through_request_timeout',
    unit: 's',
    description: 'Maximum time to the first byte of a forwarded answer, where its endpoint sets no `timeout`.',
  }),
  providerPassThrough: setting({
    kind: flag(),
    default: true,
    file: 'general_settings.provider_passthrough',
    description: 'Serves the APIs of providers under their prefixes (`/openai/…`). When false, these paths answer 404.',
  }),
  providerCostPerRequest: setting({
    kind: decimal({ from: 0, to: MAX_COST }),
    default: null,
    defaultText: 'none: the cost is unknown',
    file: 'general_settings.provider_passthrough_cost_per_request',
    unit: 'USD',
    description:
      "Cost of an answered call of a provider's own API whose usage or price is not known. Without it such calls count against no budget.",
  }),
  codingAgentPollSeconds: setting({
    kind: decimal({ from: 0.01, to: MAX_SECONDS }),
    default: 2,
    file: 'general_settings.coding_agent_poll_seconds',
    unit: 's',
    description:
      'Minimum time between two polls of a coding agent that has subscribers. The time grows to a minute while nothing changes.',
  }),
  codingAgentWebhookSecret: setting({
    kind: secret(),
    default: null,
    defaultText: 'none: messages are refused',
    env: ['CODEAGENT_WEBHOOK_SECRET'],
    file: 'general_settings.coding_agent_webhook_secret',
    description: 'Secret that the provider of coding agents signs its messages to `/codeagent/webhook` with.',
  }),
} as const;
