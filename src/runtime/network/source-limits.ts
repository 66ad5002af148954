import ipaddr from 'ipaddr.js';
import { type Address, parseRange } from './client-network.ts';

/** Limits by address or CIDR block, as they are written. A limit of 0 means no limit. */
export type SourceLimits = readonly (readonly [block: string, limit: number])[];

/** Prefix length of an IPv6 source: one host has all addresses of a /64. */
const IPV6_BITS = 64;

interface LimitedBlock {
  readonly base: Address;
  /** Prefix length. */
  readonly bits: number;
  readonly limit: number;
}

/** Orders smaller blocks first. Of equal blocks, a limit of 0 comes first, then the highest limit. */
const byPrecedence = (one: LimitedBlock, other: LimitedBlock): number =>
  other.bits - one.bits || Number(other.limit === 0) - Number(one.limit === 0) || other.limit - one.limit;

/**
 * Finds the limit of a client network: the limit of the smallest block that contains the network, or null. Of equal
 * blocks, a limit of 0 wins, then the highest limit.
 */
export function createSourceLimits(limits: SourceLimits): (source: string) => number | null {
  const blocks = limits.flatMap(([block, limit]): readonly LimitedBlock[] => {
    const range = parseRange(block);
    if (range === null) return [];
    const [base, length] = range;
    const bits = base.kind() === 'ipv6' ? Math.min(length, IPV6_BITS) : length;
    return [{ base, bits, limit }];
  });
  const ranked = blocks.toSorted(byPrecedence);
  if (ranked.length === 0) return () => null;
  return (source) => {
    const [text = ''] = source.split('/');
    if (!ipaddr.isValid(text)) return null;
    const address = ipaddr.parse(text);
    const found = ranked.find(({ base, bits }) => base.kind() === address.kind() && address.match(base, bits));
    return found?.limit ?? null;
  };
}
