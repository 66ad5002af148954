import { describe, expect, it } from 'vitest';
import { type Usd, usdFrom } from '../../../src/domain/money.ts';
import {
  adjustedCost,
  assertCostDiscounts,
  assertCostMargins,
  costAdjustmentsOf,
  NO_ADJUSTMENTS,
} from '../../../src/domain/settings/cost-adjustments.ts';

const usd = (amount: number): Usd => usdFrom(amount) ?? (0n as Usd);
const cost = (discounts: unknown, margins: unknown, provider = 'openai'): Usd =>
  adjustedCost(usd(2), provider, costAdjustmentsOf(discounts, margins));

describe('discounts and margins', () => {
  it('do not change the price when none are set for the provider', () => {
    expect(adjustedCost(usd(2), 'openai', NO_ADJUSTMENTS)).toBe(usd(2));
    expect(cost({ anthropic: 0.5 }, { anthropic: 1 })).toBe(usd(2));
  });

  it('apply the discount first, then the margin', () => {
    expect(cost({ openai: 0.25 }, null)).toBe(usd(1.5));
    expect(cost(null, { openai: 0.1 })).toBe(usd(2.2));
    expect(cost({ openai: 0.5 }, { openai: { percentage: 0.1, fixed_amount: 0.001 } })).toBe(usd(1.101));
    expect(cost({ openai: 1 }, { openai: { fixed_amount: 0.5 } })).toBe(usd(0.5));
  });

  it('use the margin of the provider in place of the global one', () => {
    expect(cost(null, { global: 1, openai: 0 })).toBe(usd(2));
    expect(cost(null, { global: 1, openai: 0 }, 'groq')).toBe(usd(4));
  });

  it('from the configuration file are ignored when they are invalid', () => {
    const notAnObject = 'x';
    expect(cost(null, notAnObject)).toBe(usd(2));
    expect(cost({ openai: 1.01 }, { openai: 10.01 })).toBe(usd(2));
    expect(cost({ openai: '0.5' }, { openai: { percentage: -1 } })).toBe(usd(2));
  });

  it('outside their bounds are refused when they are stored', () => {
    expect(() => assertCostDiscounts({ openai: 0, groq: 1 })).not.toThrow();
    expect(() => assertCostDiscounts({ openai: 1.000001 })).toThrow('between 0 and 1');
    expect(() => assertCostDiscounts({ openai: -0.1 })).toThrow('between 0 and 1');
    expect(() => assertCostMargins({ openai: 0, groq: 10, global: { percentage: 10 } })).not.toThrow();
    expect(() => assertCostMargins({ openai: 10.1 })).toThrow('between 0 and 10');
    expect(() => assertCostMargins({ openai: { fixed_amount: -1 } })).toThrow('between 0 and 10');
    expect(() => assertCostMargins({ openai: [] })).toThrow('between 0 and 10');
  });
});
