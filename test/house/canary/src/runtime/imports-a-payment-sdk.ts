import { Stripe } from 'stripe';

export const canary = Stripe;
