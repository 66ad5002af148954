// Violates the layer rule `dashboard` on purpose (`test/house/layer-rules.ts`).
import type { Money } from '../domain/money.ts';

export type Amount = Money;
