// Breaks `runtime` and `stripe-in-its-adapter`.
import { Stripe } from 'stripe';

export const canary = Stripe;
