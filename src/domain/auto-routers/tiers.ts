/** Tiers from the cheapest to the most capable. */
export const TIERS = ['SIMPLE', 'MEDIUM', 'COMPLEX', 'REASONING'] as const;

export type Tier = (typeof TIERS)[number];

export const isTier = (value: unknown): value is Tier => TIERS.some((tier) => tier === value);

/** Position of a tier in `TIERS`. */
export const rankOf = (tier: Tier): number => TIERS.indexOf(tier);
