import ipaddr from 'ipaddr.js';
import { parseRange, type Range } from './client-network.ts';

/** Limits by address or CIDR block, as they are written. */
export type SourceLimits = readonly (readonly [block: string, limit: number])[];

/** Prefix length of an IPv6 source: one host has all addresses of a /64. */
const IPV6_BITS = 64;

/**
 * Finds the limit of a client network: the limit of the smallest block that contains the network, or null. Of equal
 * blocks, a limit of 0 wins, then the highest limit.
 */
export function createSourceLimits(limits: SourceLimits): (source: string) => number | null {
  const blocks = limits.flatMap(([block, limit]): readonly (readonly [Range, number])[] => {
    const range = parseRange(block);
    if (range === null) return [];
    const [base, bits] = range;
    return [[[base, base.kind() === 'ipv6' ? Math.min(bits, IPV6_BITS) : bits], limit]];
  });
  const ranked = blocks.toSorted(
    ([[, bits], limit], [[, otherBits], otherLimit]) =>
      otherBits - bits || Number(otherLimit === 0) - Number(limit === 0) || otherLimit - limit,
  );
  if (ranked.length === 0) return () => null;
  return (source) => {
    const [text = ''] = source.split('/');
    if (!ipaddr.isValid(text)) return null;
    const address = ipaddr.parse(text);
    const found = ranked.find(([[base, bits]]) => base.kind() === address.kind() && address.match(base, bits));
    return found?.[1] ?? null;
  };
}
