import { PRICED_TIERS, type Usage } from '../../domain/chat/usage.ts';

/** A usage with the class of service of its answer, the member `service_tier` of OpenAI's answers. */
export function withServiceTier(usage: Usage | null, sent: unknown): Usage | null {
  const serviceTier = PRICED_TIERS.find((tier) => tier === sent);
  return usage === null || serviceTier === undefined ? usage : { ...usage, serviceTier };
}
