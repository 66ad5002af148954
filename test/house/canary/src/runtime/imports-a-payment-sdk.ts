// Violates the layer rules `runtime` and `stripe-in-its-adapter` on purpose (`test/house/layer-rules.ts`).
import { Stripe } from 'stripe';

export const canary = Stripe;
