import { isJsonObject } from '../../domain/json-object.ts';
import { proxyFault } from '../network/client-network.ts';
import type { SourceLimits } from '../network/source-limits.ts';
import type { Kind, Refusal } from './kinds.ts';

/** A map of addresses or CIDR blocks to whole numbers up to `max`. */
export function sourceLimits(max: number): Kind<SourceLimits> {
  return {
    form: `map of addresses or CIDR blocks to whole numbers from 0 to ${max}`,
    isSecret: false,
    parse(raw) {
      if (!isJsonObject(raw)) return { refusals: [{ message: 'is not a map' }] };
      const entries = Object.entries(raw);
      const refusals = entries.flatMap(([block, limit]: [string, unknown]): readonly Refusal[] => {
        const fault = proxyFault(block);
        if (fault !== null) return [{ path: [block], message: fault, complete: true }];
        const isWithin = Number.isInteger(limit) && Number(limit) >= 0 && Number(limit) <= max;
        if (isWithin) return [];
        const message = `${JSON.stringify(limit)} is not a whole number from 0 to ${max}`;
        return [{ path: [block], message, complete: true }];
      });
      return refusals.length > 0 ? { refusals } : { value: entries.map(([block, limit]) => [block, Number(limit)]) };
    },
  };
}
