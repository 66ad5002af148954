// Breaks `dashboard`.
import type { Money } from '../domain/money.ts';

export type Amount = Money;
